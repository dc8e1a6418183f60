/** A place in a sheet, from 1. */
export interface CellPlace {
  readonly row: number;
  readonly column: number;
}

/** The place of a cell such as `AB12`; undefined if the text isn't one. */
export function placeOf(reference: string): CellPlace | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d+)$/i.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  const column = Array.from(letters.toUpperCase()).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { row: Number(digits), column };
}

/** What a spreadsheet calls a place: `AB12`. */
export function referenceTo({ row, column }: CellPlace): string {
  let letters = "";
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return `${letters}${row}`;
}
