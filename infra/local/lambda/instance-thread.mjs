// @ts-check
/**
 * What the thread of an instance runs. Plain JavaScript, because each thread would load the compiler that strips types:
 * 7 MB of memory and a third of the CPU of its start.
 */
import { createRequire, enableCompileCache, flushCompileCache } from "node:module";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { writeFunctionLog } from "./function-log.mjs";

/** @import { FunctionError, InstanceData, InstanceRequest, InstanceResponse } from "./instance-messages.ts" */
/** @typedef {(event: unknown, context: object) => unknown} Handler */

/** @returns {FunctionError} */
function toFunctionError(/** @type {unknown} */ thrown) {
  return thrown instanceof Error
    ? { errorType: thrown.name, errorMessage: thrown.message, trace: (thrown.stack ?? "").split("\n") }
    : { errorType: typeof thrown, errorMessage: String(thrown) };
}

/** @returns {Handler} */
function load(/** @type {InstanceData} */ { file, handlerName }) {
  const exported = createRequire(pathToFileURL(file))(file);
  const handler = exported[handlerName];
  if (typeof handler !== "function") throw new TypeError(`${file} exports no function ${handlerName}`);
  return handler;
}

function respond(/** @type {InstanceResponse} */ message) {
  return parentPort?.postMessage(message, []);
}

/**
 * Sends what the function prints to the log. Streams of threads would send it to the main thread line by line, which
 * costs a tenth of the CPU of a get.
 * @param {NodeJS.WriteStream} stream
 * @param {InstanceData} data
 */
function printToLog(stream, { log, terminal, file, context: { functionName } }) {
  const to = { log, terminal, file, functionName };
  stream.write = (/** @type {string | Uint8Array} */ chunk, /** @type {unknown[]} */ ...options) => {
    writeFunctionLog(to, chunk);
    const written = options.find((option) => typeof option === "function");
    if (written !== undefined) process.nextTick(written);
    return true;
  };
}

/** Loads the code once, then handles one event after another. */
function run(/** @type {InstanceData} */ data) {
  for (const stream of [process.stdout, process.stderr]) printToLog(stream, data);
  if (data.compileCache !== undefined) enableCompileCache(data.compileCache);
  /** @type {Handler} */
  let handler;
  try {
    handler = load(data);
  } catch (error) {
    respond({ kind: "init-error", error: toFunctionError(error) });
    return;
  }
  let isFirst = true;
  const handle = async (/** @type {InstanceRequest} */ { requestId, payload, deadline }) => {
    const context = {
      ...data.context,
      awsRequestId: requestId,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    };
    try {
      const result = await handler(JSON.parse(payload), context);
      respond({ kind: "result", payload: JSON.stringify(result) ?? "null" });
    } catch (error) {
      respond({ kind: "error", error: toFunctionError(error) });
    }
    // Only now are the functions compiled that an event needs. It writes nothing if the code came from the cache.
    if (isFirst) flushCompileCache();
    isFirst = false;
  };
  parentPort?.on("message", (/** @type {InstanceRequest} */ request) => void handle(request));
  respond({ kind: "ready" });
}

run(workerData);
