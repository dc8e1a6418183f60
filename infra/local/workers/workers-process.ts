import { openSync } from "node:fs";
import { Logger } from "@aws-lambda-powertools/logger";
import { createLocalRuntime, loggedError } from "../functions.ts";
import { printToLog } from "../function-log.ts";
import { openCheckpoints } from "./checkpoint-file.ts";
import { startWorkers } from "./workers.ts";

/** The process of the workers. Its environment names tables, bucket, queues and engines. */
const [, , logFile = "", checkpoints = "", verbose] = process.argv;
printToLog({ log: openSync(logFile, "a"), verbose: verbose !== undefined });
const log = new Logger();
process.on("uncaughtException", (error) => {
  log.error("uncaught exception", { function: "workers", error: loggedError(error) });
});
const environment = process.env as Readonly<Record<string, string>>;
const workers = startWorkers({
  runtime: createLocalRuntime(environment, log),
  checkpoints: openCheckpoints(checkpoints),
});
// The service has stopped or was killed.
process.once("disconnect", () => void workers.then((poller) => poller.stop()).finally(() => process.exit()));
await workers;
// If the service has stopped meanwhile, nobody waits for it.
process.send?.("ready", undefined, undefined, () => {});
