import { inspect } from "node:util";
import * as z from "zod";
import { CommandError, createCommandLine, runCommand } from "@work-items/terminal/command-line.ts";
import { originSchema } from "../../infra/settings/stage-settings.ts";
import { processTerminal } from "@work-items/terminal/terminal.ts";
import { type LocalService, startLocalService } from "./local-service.ts";

/** npm repeats the signal of Ctrl-C. A second signal within this time is that repetition. */
const SAME_SIGNAL_MS = 1000;

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CommandError(`PORT is ${text}: it must be a number from 0 to 65535`);
}

function originsOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const parsed = z.array(originSchema).safeParse(text.split(",").map((origin) => origin.trim()));
  if (parsed.success) return parsed.data;
  throw new CommandError(
    `ALLOWED_ORIGINS is ${text}: it must be origins such as https://app.example.com, separated by commas`,
  );
}

function introductionOf({ baseUrl, apiKey, dataDirectory }: LocalService): string {
  const request =
    `curl ${baseUrl}/v1/work_items/batch -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' ` +
    `-d '{"work_items":[{"external_id":"first"}]}'`;
  return `
  Documentation   ${baseUrl}/docs
  Import page     ${baseUrl}/upload#key=${apiKey}
  API             ${baseUrl}
  API key         ${apiKey}
  Data            ${dataDirectory} (functions.log, env)

  ${request}

ready
`;
}

/** Calls `stop` on the signals that ask a process to end. A second one ends it at once. */
function onSignals(stop: () => void): void {
  let stoppingSince: number | undefined;
  const onSignal = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = Date.now();
      stop();
    } else if (Date.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

/** What `npm start` runs. */
async function start(): Promise<void> {
  process.stderr.write("Starting the service …\n");
  const service = await startLocalService({
    port: portOf(process.env["PORT"] ?? "3000"),
    dataDirectory: process.env["DATA_DIR"] ?? ".local",
    dynamodbEndpoint: process.env["DYNAMODB_ENDPOINT"],
    allowedOrigins: originsOf(process.env["ALLOWED_ORIGINS"]),
    verbose: process.env["LOG"] === "1",
  });
  let isStopping = false;
  const stop = async (status: number): Promise<void> => {
    isStopping = true;
    await service.stop();
    process.exit(status);
  };
  onSignals(() => void stop(0));
  void service.failed.then((error) => {
    if (isStopping) return;
    service.terminal.complain(`${error.message}\n`);
    void stop(1);
  });
  service.terminal.print(introductionOf(service));
}

const terminal = processTerminal();
const program = createCommandLine(terminal, "npm start --", "Run the service on this machine");
program.action(start);
const status = await runCommand(terminal, program, (error) =>
  error instanceof CommandError ? `Cannot start: ${error.message}` : inspect(error),
);
// What was started before an error mustn't keep the process alive.
if (status !== 0) process.exit(status);
