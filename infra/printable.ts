/**
 * What a terminal obeys instead of showing it: control characters (C0, DEL, C1), which move the cursor, set colours or
 * the window's title, and the controls that reverse the order of what follows them
 * (https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters).
 */
const CONTROLS = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
/** Those that don't end a line. A carriage return before a line feed does. */
const CONTROLS_IN_LINES = /(?!\r\n)(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** A character as JSON writes it, so that JSON stays the same data. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A text from data or from a service as it is shown to people, in one line: ESC becomes `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, escaped);
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.replaceAll(CONTROLS_IN_LINES, escaped);
}
