/** How long a button says that it has copied. */
const SHOWN_MS = 2000;

/** Lets the buttons above code copy it. In tabs they copy the block that is shown. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => {
      const code = button.closest(".code, .tabs")?.querySelector(".code:not([hidden]) code")?.textContent ?? "";
      // Pages without HTTPS have no clipboard, so this fails there too.
      const copying = async (): Promise<void> => navigator.clipboard.writeText(code);
      void copying().then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Select and copy it yourself"),
      );
      setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    });
  }
}
