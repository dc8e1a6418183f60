import { COPIED_MS, copyText } from "../copy-text.ts";

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
