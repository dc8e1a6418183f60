import { accepted, ApiError, OutageError, OutcomeUnknownError } from "work-items-client/api-error.ts";
import { type Client, createClient } from "work-items-client/client.ts";
import { parseJson } from "@work-items/lib/json.ts";
import { InvalidFileError } from "@work-items/lib/uploads/csv/invalid-file-error.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { localFiles, readEnvironmentFile } from "@work-items/terminal/environment-file.ts";
import { plainReason } from "@work-items/terminal/plain-reason.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";

/**
 * Finds the service and its key: `WORK_ITEMS_URL` and `WORK_ITEMS_KEY`, `BASE_URL` and `API_KEY`, or what the local
 * service wrote into its data directory.
 * @throws CommandError
 */
function findService(variables: Terminal["env"]) {
  const local: NodeJS.Dict<string> = readEnvironmentFile(localFiles(variables).service);
  const baseUrl = [variables["WORK_ITEMS_URL"], variables["BASE_URL"], local["BASE_URL"]].find(Boolean);
  const apiKey = [variables["WORK_ITEMS_KEY"], variables["API_KEY"], local["API_KEY"]].find(Boolean);
  if (baseUrl === undefined || apiKey === undefined) {
    throw new CommandError("no service: set WORK_ITEMS_URL to its address and WORK_ITEMS_KEY to your API key");
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ""), apiKey };
}

/** A service that isn't running is reported this soon. One that is busy may ask for a longer wait. */
const UNREACHABLE_MS = 5000;

/** Creates the client of the service. @throws CommandError */
export function openService({ env, sleep, clock }: Terminal): Client {
  const service = findService(env);
  let unreachableSince: number | undefined;
  const reach = async (...call: Parameters<typeof fetch>): Promise<Response> => {
    try {
      const response = await fetch(...call);
      unreachableSince = undefined;
      return response;
    } catch (error) {
      unreachableSince ??= clock();
      if (clock() - unreachableSince < UNREACHABLE_MS) throw error;
      throw new CommandError(unreachable(service, error), { cause: error });
    }
  };
  return createClient({ ...service, fetch: reach, wait: sleep });
}

function unreachable({ baseUrl }: { readonly baseUrl: string }, error: unknown): string {
  return `no service responds at ${baseUrl}: ${plainReason(error)}`;
}

/** A response whose body is text. */
type TextOutcome = Parameters<typeof accepted<string>>[0];

/** The parsed body of a response, with all digits of its numbers. @throws ApiError */
export async function keepingDigits<T>(outcome: TextOutcome): Promise<T> {
  return parseJson((await accepted(outcome)).body) as T;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: "; check that WORK_ITEMS_KEY is a key of this service and has not been revoked",
};

/** Why a command failed, in one line; undefined for a defect of this program. */
export function explain({ env }: Terminal, error: unknown): string | undefined {
  if (error instanceof CommandError || error instanceof InvalidFileError) return error.message;
  if (error instanceof ApiError && error.message === "no such path") {
    return `${error.message} at ${findService(env).baseUrl}; the address ends before /v1`;
  }
  if (error instanceof ApiError) return `${error.message}${ADVICE[error.status] ?? ""}`;
  if (error instanceof OutcomeUnknownError) return error.message;
  if (error instanceof OutageError) return unreachable(findService(env), error);
  return undefined;
}
