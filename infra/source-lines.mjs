// @ts-check
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { relative, resolve } from "node:path";

/** @typedef {{ readonly file: string, readonly sourceRoot: string, readonly map: SourceMap }} LoadedMap */

/**
 * The map that was read last: a function's thread has few, and one takes up to 20 MB.
 * @type {LoadedMap | undefined}
 */
let loaded;

/** @returns {LoadedMap | undefined} undefined if there is no such file */
function load(/** @type {string} */ file) {
  if (loaded?.file === file) return loaded;
  try {
    const parsed = JSON.parse(readFileSync(file, "utf8"));
    loaded = { file, sourceRoot: parsed.sourceRoot ?? "", map: new SourceMap(parsed) };
    return loaded;
  } catch {
    return undefined;
  }
}

function escaped(/** @type {string} */ text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/**
 * Replaces positions in bundles (`<file>:<line>:<column>`) by those in the source, relative to the current directory. A
 * position stays as it is if there is no map or the map does not have it.
 * @param {string} text a stack, or a log line that holds one
 * @param {string} bundles how the paths of all bundles start
 * @param {(bundle: string) => string} mapFileOf path of a bundle's source map; read only if the text names the bundle
 */
export function toSourceLines(text, bundles, mapFileOf) {
  const positions = new RegExp(String.raw`(?:file://)?(${escaped(bundles)}[^\s:()]*):(\d+):(\d+)`, "g");
  return text.replaceAll(positions, (position, bundle, line, column) => {
    const found = load(mapFileOf(bundle));
    const entry = found?.map.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || entry === undefined || !("originalSource" in entry)) return position;
    const source = relative(process.cwd(), resolve(found.sourceRoot, entry.originalSource));
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}
