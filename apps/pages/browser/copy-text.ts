/** How long a button says what became of a copy. */
export const COPIED_MS = 2000;

/** Copies a text. @returns what the button says then */
export async function copyText(text: string): Promise<string> {
  try {
    // Pages without HTTPS have no clipboard, so this fails there too.
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    return "Select and copy it yourself";
  }
}
