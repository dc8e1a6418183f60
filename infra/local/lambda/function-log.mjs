// @ts-check
import { dirname } from "node:path";
import { writeLog } from "./log.mjs";
import { toSourceLines } from "../../source-lines.mjs";

/** The most characters of an error's message in the line for the terminal. */
const MESSAGE_MAX = 200;
const ERROR_LINE = '"level":"ERROR"';

/**
 * What the lines about errors of a request, of a message and of a whole invocation have.
 * @typedef {object} Line
 * @property {string} level
 * @property {string} [message]
 * @property {string} [route]
 * @property {number} [status]
 * @property {{ name?: string, message?: string, stack?: string } | string} [error]
 * @property {string} [errorType]
 * @property {string} [errorMessage]
 * @property {readonly string[]} [trace]
 * @property {string} [request_id]
 * @property {string} [requestId]
 * @property {string} [messageId]
 */

/** @returns {Line | undefined} the line if it is about an error that nothing in the code expects: no 503, for example */
function faultIn(/** @type {string} */ text) {
  try {
    const line = JSON.parse(text);
    return line.level === "ERROR" && (line.status === undefined || line.status === 500) ? line : undefined;
  } catch {
    return undefined;
  }
}

/** The first line of a stack in the project's own code; otherwise the first one in any source. */
function placeIn(/** @type {string} */ stack) {
  const places = [...stack.matchAll(/([^\s()]+\.(?:ts|js|mjs):\d+):\d+/g)].map(([, place = ""]) => place);
  return places.find((place) => /^(?:functions|lib)\//.test(place)) ?? places[0];
}

/** Only what says where to look: time, function, error, source line and request. */
function summaryOf(/** @type {Line} */ line, /** @type {string} */ functionName) {
  /** @type {{ name?: string, message?: string | undefined, stack?: string }} */
  const error = typeof line.error === "object" ? line.error : { message: line.error };
  const name = error.name ?? line.errorType ?? "Error";
  const message = error.message ?? line.errorMessage ?? line.message ?? "";
  // A control character would end the line or change the terminal.
  const shown = message.replace(/\p{Cc}.*$/su, "").slice(0, MESSAGE_MAX);
  const place = placeIn(error.stack ?? line.trace?.join("\n") ?? "");
  const request = line.request_id ?? line.requestId ?? line.messageId;
  return [
    new Date().toTimeString().slice(0, 8),
    line.route ?? functionName,
    ...(line.status === undefined ? [] : [line.status]),
    `${name}: ${shown}`,
    ...(place === undefined ? [] : [`at ${place}`]),
    ...(request === undefined ? [] : [`(request ${request})`]),
  ].join(" ");
}

/**
 * Writes to the log what a function prints. In lines about errors, stacks name source lines if the bundle has a source
 * map; an unexpected error is also summed up in one line for the terminal.
 * @param {object} to
 * @param {readonly number[]} to.log file descriptors
 * @param {number | undefined} to.terminal file descriptor for the summaries
 * @param {string} to.file the bundle
 * @param {string} to.functionName
 * @param {string | Uint8Array} chunk
 */
export function writeFunctionLog({ log, terminal, file, functionName }, chunk) {
  if (typeof chunk !== "string" || !chunk.includes(ERROR_LINE)) {
    writeLog(log, chunk);
    return;
  }
  // A bundle may consist of several files, which lie beside its directory.
  const text = toSourceLines(chunk, dirname(dirname(file)), (bundle) => `${bundle}.map`);
  writeLog(log, text);
  const fault = terminal === undefined ? undefined : faultIn(text);
  if (terminal !== undefined && fault !== undefined) writeLog([terminal], `${summaryOf(fault, functionName)}\n`);
}
