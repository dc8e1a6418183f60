import { randomInt } from "node:crypto";
import { inspect } from "node:util";
import * as z from "zod";
import { CommandError, createCommandLine, runCommand } from "../command-line.ts";
import { originSchema } from "../settings/stage-settings.ts";
import { LocalStackError } from "./local-stack-error.ts";
import { type LocalStack, startLocalStack } from "./stack.ts";

/** Ctrl-C in npm sends the signal twice: a second one within this time is not a second request to stop. */
const SAME_SIGNAL_MS = 1000;
const PARENT_CHECK_MS = 200;

/** Ends this process after npm was killed with -9: otherwise it would hold the port without a visible owner. */
function endWithNpm(end: () => void): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    end();
  }, PARENT_CHECK_MS);
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LocalStackError(`PORT is ${text}: it must be a number from 0 to 65535`);
}

/** @returns undefined unless `AWS_TERMS` is 1; a random seed unless `AWS_TERMS_SEED` gives one */
function awsTermsSeedOf(): number | undefined {
  if (process.env["AWS_TERMS"] !== "1") return undefined;
  const text = process.env["AWS_TERMS_SEED"] ?? String(randomInt(2 ** 31));
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new LocalStackError(`AWS_TERMS_SEED is ${text}: it must be a whole number`);
}

function originsOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const parsed = z.array(originSchema).safeParse(text.split(",").map((origin) => origin.trim()));
  if (parsed.success) return parsed.data;
  throw new LocalStackError(
    `ALLOWED_ORIGINS is ${text}: it must be origins such as https://app.example.com, separated by commas`,
  );
}

function introduce({ baseUrl, apiKey, dataDirectory }: LocalStack): void {
  const request =
    `curl ${baseUrl}/v1/work_items/batch -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' ` +
    `-d '{"work_items":[{"external_id":"first"}]}'`;
  console.log(`
  Work items   ${baseUrl}
  API key      ${apiKey}
  To read      ${baseUrl}/docs
  To import    ${baseUrl}/upload
  Data         ${dataDirectory} (functions.log, env)

  ${request}
`);
}

/** What `npm start` runs. */
async function start({ watch = false }: { readonly watch?: boolean }): Promise<void> {
  const awsTermsSeed = awsTermsSeedOf();
  // Only then are esbuild and all routes loaded.
  const watcher = watch ? new (await import("./watch.ts")).FunctionWatcher() : undefined;
  const stack = await startLocalStack({
    port: portOf(process.env["PORT"] ?? "3000"),
    dataDirectory: process.env["DATA_DIR"] ?? ".local",
    dynamodbEndpoint: process.env["DYNAMODB_ENDPOINT"],
    allowedOrigins: originsOf(process.env["ALLOWED_ORIGINS"]),
    awsTermsSeed,
    verbose: process.env["LOG"] === "1",
    ...(watcher && { functionOf: watcher.functionOf }),
  });
  let stoppingSince: number | undefined;
  const stop = async (status: number): Promise<void> => {
    if (stoppingSince !== undefined) {
      // A second request to stop ends the process at once.
      if (Date.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = Date.now();
    await watcher?.stop();
    await stack.stop();
    process.exit(status);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0));
  endWithNpm(() => void stop(0));
  void stack.failed.then((error) => {
    if (stoppingSince !== undefined) return;
    console.error(error.message);
    void stop(1);
  });
  await watcher?.start(stack);
  introduce(stack);
  if (awsTermsSeed !== undefined) console.log(`  AWS's terms   AWS_TERMS_SEED=${awsTermsSeed}\n`);
  console.log("ready");
}

const program = createCommandLine("npm start --", "Run the service on this machine");
program.option("--watch", "serve changed sources").action(start);
await runCommand(program, (error) =>
  error instanceof CommandError ? `Cannot start: ${error.message}` : inspect(error),
);
// What was started before an error doesn't keep the process.
if (process.exitCode !== undefined) process.exit();
