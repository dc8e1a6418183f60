import { DELIMITERS, type Delimiter } from "../../../lib/uploads/csv/delimiter.ts";

/** Rows whose lines show the delimiter. */
const DELIMITER_LINES = 20;

/** The longest run of lines with the same number of cells, if that is more than one. */
function longestRun(widths: readonly number[]): { readonly lines: number; readonly width: number } {
  let longest = { lines: 0, width: 0 };
  let run = longest;
  for (const width of widths) {
    run = { lines: width === run.width ? run.lines + 1 : 1, width };
    if (width > 1 && run.lines > longest.lines) longest = run;
  }
  return longest;
}

/**
 * The delimiter that makes the same number of cells of the most lines in a row: there may be titles above them.
 * @param text the first rows of a file
 */
export function delimiterIn(text: string): Delimiter {
  const lines = text
    .replaceAll(/"(?:""|[^"])*"/g, "")
    .split(/[\r\n]+/)
    .slice(0, DELIMITER_LINES);
  const scored = (Object.keys(DELIMITERS) as Delimiter[]).map((delimiter) => ({
    delimiter,
    ...longestRun(lines.map((line) => line.split(delimiter).length)),
  }));
  return scored.reduce((most, each) =>
    each.lines > most.lines || (each.lines === most.lines && each.width > most.width) ? each : most,
  ).delimiter;
}
