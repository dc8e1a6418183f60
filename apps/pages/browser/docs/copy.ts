/** How long a button says what became of a copy. */
const COPIED_MS = 2000;

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

/** Lets the buttons above code copy it. In tabs they copy the block that is shown. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => {
      const code = button.closest(".code, .tabs")?.querySelector(".code:not([hidden]) code")?.textContent ?? "";
      void copyText(code).then((said) => (button.textContent = said));
      setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
    });
  }
}
