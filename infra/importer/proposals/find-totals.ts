import { plainWords } from "./plain-words.ts";

/** Longer texts are no headings of sums. */
const HEADING_MAX_CHARACTERS = 40;
/** What stands before sums and averages in English, German, French and Spanish, as `plainWords` makes it; a count may follow. */
const HEADING = new RegExp(
  String.raw`^(?:(?:grand|overall|report|sub|sous|page) )?(?:totals?|totaux|totales|subtotal(?:es|s)?|sum|summe|gesamt|gesamtsumme|gesamtergebnis|zwischensumme|insgesamt|somme|suma|averages?|avg|durchschnitt|mittelwert|moyennes?|promedio|media)(?: (?:general(?:es)?|generaux|records?|rows|items|tickets|cases|count|\d+))*$`,
);

/** Whether a row's first text is a heading of sums, such as "Grand total:". */
export function isTotalsRow(cells: readonly string[]): boolean {
  const first = cells.find((cell) => cell.trim() !== "") ?? "";
  return (
    first.length <= HEADING_MAX_CHARACTERS && /^\P{L}*[adgimoprstz]/iu.test(first) && HEADING.test(plainWords(first))
  );
}

/** Whether a row is the header once more, as where several files were put together. */
export function isHeaderAgain(cells: readonly string[], names: readonly string[]): boolean {
  return cells.length === names.length && cells.every((cell, index) => cell.trim() === names[index]!.trim());
}

/** Whether a row looks like no item: it has sums, or is the header once more. */
export function isNoItem(cells: readonly string[], names: readonly string[]): boolean {
  return isTotalsRow(cells) || isHeaderAgain(cells, names);
}
