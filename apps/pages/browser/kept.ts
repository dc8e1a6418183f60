/** Where a key is kept in the tab's session storage, if the person wants that. */
export const KEPT_KEY = "work-items-key";

/** A text that was kept. @param storage function, since browsers that forbid to keep anything throw when it is named */
export function readKept(storage: () => Storage, name: string): string | null {
  try {
    return storage().getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or removes it if it is null. Where the browser forbids it, it lasts as long as the page. */
export function keep(storage: () => Storage, name: string, text: string | null): void {
  try {
    if (text === null) storage().removeItem(name);
    else storage().setItem(name, text);
  } catch {
    // Nothing is kept then.
  }
}
