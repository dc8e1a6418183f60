/** A cell cannot be read as what it should be. The message quotes the text and says what it should be. */
export class CellError extends Error {
  override readonly name: string = "CellError";
}

/** Longer texts are cut in messages: a cell may have megabytes. */
const SHOWN_MAX_CHARACTERS = 100;

/** A text in quotes, for messages. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX_CHARACTERS ? `${text.slice(0, SHOWN_MAX_CHARACTERS)}…` : text);
}
