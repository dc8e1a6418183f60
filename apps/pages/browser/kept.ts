/** Name of the key in the tab's session storage, if the person wants it kept. */
export const KEPT_KEY = "work-items-key";

/** A text that was kept. @param storage a function, since browsers that forbid storage throw when it is accessed */
export function readKept(storage: () => Storage, name: string): string | null {
  try {
    return storage().getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or removes it if it is null. Does nothing if the browser forbids storage. */
export function keep(storage: () => Storage, name: string, text: string | null): void {
  try {
    if (text === null) storage().removeItem(name);
    else storage().setItem(name, text);
  } catch {
    // The browser forbids it.
  }
}
