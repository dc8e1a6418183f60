import { openSync } from "node:fs";
import { Logger } from "@aws-lambda-powertools/logger";
import { createLocalRuntime, surviveUncaught } from "../functions.ts";
import { printToLog } from "../function-log.ts";
import { openCheckpoints } from "./stream.ts";
import { startWorkers } from "./start-workers.ts";

/** The process of the workers. Its environment variables name tables, bucket, queues and engines. */
const [, , logFile = "", checkpoints = "", verbose] = process.argv;
printToLog({ log: openSync(logFile, "a"), verbose: verbose !== undefined });
const log = new Logger();
surviveUncaught("workers", log);
const environment = process.env as Readonly<Record<string, string>>;
const workers = startWorkers({
  runtime: createLocalRuntime(environment, log),
  checkpoints: openCheckpoints(checkpoints),
});
// The service has stopped or was killed.
process.once("disconnect", () => void workers.then((poller) => poller.stop()).finally(() => process.exit()));
await workers;
// The callback ignores an error: the service may have stopped by now.
process.send?.("ready", undefined, undefined, () => {});
