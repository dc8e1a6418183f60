import { nameOfColumn } from "@work-items/lib/uploads/csv/csv-columns.ts";
import { DELIMITERS, type Delimiter } from "@work-items/lib/uploads/csv/delimiter.ts";
import { agentOfName, isCustomer, plainWords, targetOfName } from "./known-headers.ts";

/** How the header of a file reads with a delimiter. */
export interface DelimiterReading {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
}

/** Number of lines that show the delimiter. */
const DELIMITER_LINES = 20;

/** The longest run of lines with the same number of cells, more than one. */
function longestRun(widths: readonly number[]) {
  let longest = { lines: 0, width: 0, start: 0 };
  let run = longest;
  for (const [index, width] of widths.entries()) {
    run = width === run.width ? { ...run, lines: run.lines + 1 } : { lines: 1, width, start: index };
    if (width > 1 && run.lines > longest.lines) longest = run;
  }
  return longest;
}

/** Whether a cell is a known name of a column. */
function isKnown(cell: string): boolean {
  const words = plainWords(cell);
  const known = nameOfColumn(cell) ?? targetOfName(words) ?? agentOfName(words);
  return known !== undefined || isCustomer(words);
}

/** Text without the delimiters, quotes and line ends in its quoted cells. */
function withPlainQuotes(text: string): string {
  return text.replaceAll(/"((?:""|[^"])*)"/g, (_, cell: string) => cell.replaceAll(/[\r\n,;\t|"]/g, " "));
}

/**
 * The delimiters that split the longest run of lines into the same number of cells (there may be titles above), and of
 * these the ones that give the header the most known names. If several are left, a person has to choose.
 * @param text the first rows of a file
 * @returns at least one, the likeliest first
 */
export function delimitersIn(text: string): DelimiterReading[] {
  const lines = withPlainQuotes(text)
    .split(/[\r\n]+/)
    .slice(0, DELIMITER_LINES);
  const runs = (Object.keys(DELIMITERS) as Delimiter[])
    .map((delimiter) => ({ delimiter, ...longestRun(lines.map((line) => line.split(delimiter).length)) }))
    .toSorted((a, b) => b.lines - a.lines || b.width - a.width);
  const fitting = runs.filter((each) => each.lines === runs[0]!.lines);
  // A run of one line only shows its width.
  const readings = (runs[0]!.lines > 1 ? fitting : runs.slice(0, 1)).map(({ delimiter, start, lines: count }) => {
    // Titles may be as wide as the header below them.
    const all = lines.slice(start, start + Math.max(1, count)).map((line) => {
      const names = line.split(delimiter).map((name) => name.trim());
      return { delimiter, names, known: names.filter(isKnown).length };
    });
    return all.reduce((best, each) => (each.known > best.known ? each : best));
  });
  const most = Math.max(...readings.map(({ known }) => known));
  return readings.filter(({ known }) => known === most).map(({ delimiter, names }) => ({ delimiter, names }));
}
