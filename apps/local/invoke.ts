import { join } from "node:path";
import { CommandError, createCommandLine, runCommand } from "@work-items/terminal/command-line.ts";
import { localFiles, readEnvironmentFile } from "@work-items/terminal/environment-file.ts";
import { pages } from "../../functions/pages.ts";
import { gatewayFunctions } from "../../functions/routes.ts";
import { allWorkers } from "../../functions/workers.ts";
import { Logger } from "@aws-lambda-powertools/logger";
import { API_TIMEOUT_SECONDS, workerTimeoutSeconds } from "../../infra/limits.ts";
import { buildPages, loadPages } from "./api-server.ts";
import { createLocalRuntime, loadFunction, type LocalRuntime } from "./functions.ts";
import { preparationsOf, readEvent } from "./invoke-event.ts";
import { processTerminal } from "@work-items/terminal/terminal.ts";
import { openStores, prepareOrganization, setEnvironment } from "./local-service.ts";

/** Timeouts of all functions in seconds, by name. */
const timeouts = new Map<string, number>([
  ...gatewayFunctions().map(({ name }) => [name, API_TIMEOUT_SECONDS] as const),
  ...allWorkers.map(({ name, trigger }) => [name, workerTimeoutSeconds(trigger)] as const),
]);

/** The stores of the service that runs on the data directory, or the same stores opened for this invocation. */
async function findStores(opened: AsyncDisposableStack): Promise<{ runtime: LocalRuntime; apiKey: string }> {
  const files = localFiles();
  const variables = readEnvironmentFile(files.stack);
  if ((await fetch(`${variables["AWS_ENDPOINT_URL_SQS"]}/health`).catch(() => undefined))?.ok) {
    setEnvironment(variables);
    const { API_KEY: apiKey = "" } = readEnvironmentFile(files.service);
    return { runtime: createLocalRuntime(variables, new Logger()), apiKey };
  }
  const { DATA_DIR: dataDirectory = ".local", DYNAMODB_ENDPOINT: dynamodbEndpoint } = process.env;
  const stores = await openStores({ dataDirectory, dynamodbEndpoint }, opened);
  // Before the first start it is a key of this invocation alone: only a start writes the file that names one.
  return { runtime: stores.runtime, apiKey: await prepareOrganization(stores) };
}

async function invoke(name: string, eventFile: string): Promise<void> {
  const timeout = timeouts.get(name);
  if (timeout === undefined) {
    throw new CommandError(`unknown function ${name}; name one of ${[...timeouts.keys()].join(", ")}`);
  }
  readEvent(eventFile);
  await using opened = new AsyncDisposableStack();
  const { runtime, apiKey } = await findStores(opened);
  for (const [first, file] of preparationsOf(eventFile)) {
    const prepare = await loadFunction(first, timeouts.get(first) ?? API_TIMEOUT_SECONDS, { runtime });
    await prepare(JSON.parse(readEvent(file, apiKey))).catch(() => {});
  }
  const run =
    name === pages.name
      ? await loadPages({ runtime }, () => buildPages(join(runtime.environment.LAMBDA_TASK_ROOT, "pages")))
      : await loadFunction(name, timeout, { runtime });
  const payload: unknown = JSON.parse(readEvent(eventFile, process.env["API_KEY"] ?? apiKey));
  const result = await run(payload).catch((error: unknown) => {
    terminal.exitCode = 1;
    const { name: errorType, message: errorMessage, stack } = error instanceof Error ? error : new Error(String(error));
    return { errorType, errorMessage, trace: stack?.split("\n") };
  });
  print(`${JSON.stringify(result, undefined, 2)}\n`);
}

// The result alone is printed; the function's log goes to the standard error.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

const terminal = processTerminal();
const program = createCommandLine(terminal, "npm run invoke --", "Invoke one function on the local service's data");
program
  .argument("<function>", "such as get-work-item")
  .argument("<event.json>", "file with its event, such as events/get-work-item.json")
  .action(invoke);
const status = await runCommand(terminal, program);
// Clients keep connections open.
process.exit(status);
