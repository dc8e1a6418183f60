// @ts-check
import { writeSync } from "node:fs";

/** How long a reader that is slow is waited for, again and again. */
const PAUSE_MS = 5;
const neverWoken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

function codeOf(/** @type {unknown} */ error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function writeAll(/** @type {number} */ descriptor, /** @type {Uint8Array} */ bytes) {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      // If the disk is full or the reader is gone, lines are lost and the service continues.
      if (codeOf(error) !== "EAGAIN") return;
      Atomics.wait(neverWoken, 0, 0, PAUSE_MS);
    }
  }
}

/**
 * Writes text to file descriptors before it returns, as Lambda's runtime does. They belong to the process, so that
 * every thread of it can write to them.
 * @param {readonly number[]} descriptors
 * @param {string | Uint8Array} text
 */
export function writeLog(descriptors, text) {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (const descriptor of descriptors) writeAll(descriptor, bytes);
}
