import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEnv } from "node:util";
import { parseJson } from "../../lib/json.ts";

/** A command cannot do what it was asked to. The message is for the person who called it. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The service refused a request. */
export class RefusedError extends CommandError {
  override readonly name: string = "RefusedError";
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Where the service is, and the key to call it with. */
export interface ServiceAddress {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/**
 * Finds the service: `WORK_ITEMS_URL` and `WORK_ITEMS_KEY`, else what the local service wrote into its data directory.
 * @throws CommandError
 */
export const findService = (variables: NodeJS.Dict<string> = process.env): ServiceAddress => {
  const file = join(variables["DATA_DIR"] ?? ".local", "env");
  let local: NodeJS.Dict<string> = {};
  try {
    local = parseEnv(readFileSync(file, "utf8"));
  } catch {
    // Without a local service, the variables name another one.
  }
  const baseUrl = variables["WORK_ITEMS_URL"] ?? variables["BASE_URL"] ?? local["BASE_URL"];
  const apiKey = variables["WORK_ITEMS_KEY"] ?? variables["API_KEY"] ?? local["API_KEY"];
  if (baseUrl === undefined || apiKey === undefined) {
    throw new CommandError(
      `no service: set WORK_ITEMS_URL and WORK_ITEMS_KEY, or run npm start first (it writes ${file})`,
    );
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ""), apiKey };
};

/** A JSON value that a command sends or shows. */
export type Json = Readonly<Record<string, unknown>>;

/** A successful response. */
export interface ServiceResponse {
  readonly data: Json;
  readonly meta: Json;
}

/** What a request has beside method and path. */
export interface RequestOptions {
  /** Sent as JSON, or a form as it is. */
  readonly body?: Json | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Attempts of a request that may be repeated, while the network or the service fails. */
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 500;
const REPEATABLE = new Set(["GET", "DELETE"]);
/** Where batches are sent. The same batch again changes nothing. */
export const BATCH_PATH = "/v1/work_items/batch";

const waitSecondsOf = (response: Response): number | undefined => {
  const seconds = response.headers.get("retry-after");
  return seconds !== null && (response.status === 429 || response.status === 503) ? Number(seconds) : undefined;
};

const errorOf = async (response: Response): Promise<string> => {
  const text = await response.text();
  try {
    return String((JSON.parse(text) as Json)["error"]);
  } catch {
    return text.slice(0, 200);
  }
};

const ADVICE: Readonly<Record<number, string>> = {
  401: "; is WORK_ITEMS_KEY the key of this service, and not revoked?",
};

/**
 * Calls the service over HTTP. Waits as long as `Retry-After` says after 429 and 503. When the network fails, it repeats
 * requests that may be repeated. Numbers in responses keep their digits.
 */
export const createServiceClient = ({ baseUrl, apiKey }: ServiceAddress) => {
  const send = async (method: string, path: string, { body, headers }: RequestOptions): Promise<Response> =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });

  /** Sends a request. @throws RefusedError, CommandError if nothing responds */
  const request = async (method: string, path: string, options: RequestOptions = {}): Promise<ServiceResponse> => {
    const isRepeatable =
      REPEATABLE.has(method) || path === BATCH_PATH || options.headers?.["idempotency-key"] !== undefined;
    for (let attempt = 1; ; attempt++) {
      let response: Response;
      try {
        response = await send(method, path, options);
      } catch (error) {
        if (isRepeatable && attempt < ATTEMPTS_MAX) {
          await sleep(PAUSE_MS * 2 ** attempt);
          continue;
        }
        const { cause } = error as { cause?: unknown };
        const reason = cause instanceof Error ? cause.message : String(error);
        throw new CommandError(`no service responds at ${baseUrl}: ${reason}`, { cause: error });
      }
      const waitSeconds = waitSecondsOf(response);
      if (waitSeconds !== undefined) {
        await response.body?.cancel();
        await sleep(waitSeconds * 1000);
        continue;
      }
      if (response.ok) return parseJson(await response.text()) as unknown as ServiceResponse;
      throw new RefusedError(response.status, `${await errorOf(response)}${ADVICE[response.status] ?? ""}`);
    }
  };
  return { request };
};

/** Calls the service. */
export type ServiceClient = ReturnType<typeof createServiceClient>;
