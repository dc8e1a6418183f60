/** How long a button says that it has copied, in milliseconds. */
const SHOWN_MS = 2000;

/** Copies a text. @returns what the button says then */
async function copy(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    // The browser forbids it, or has no clipboard for pages without HTTPS.
    return "Select and copy it yourself";
  }
}

/** Lets the buttons in the bars above code copy it: of several blocks, the one that is shown. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => {
      const code = button.closest(".code, .tabs")?.querySelector(".code:not([hidden]) code")?.textContent ?? "";
      void copy(code).then((text) => (button.textContent = text));
      setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    });
  }
}
