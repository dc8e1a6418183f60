/** How long a button says that it has copied, in milliseconds. */
const SHOWN_MS = 2000;

/** Gives the bar above each block of code, or of several of which one is shown, a button that copies it. */
export function addCopyButtons(): void {
  for (const bar of document.querySelectorAll(".code figcaption, .head")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      const code = bar.parentElement?.querySelector(".code:not([hidden]) code")?.textContent ?? "";
      void navigator.clipboard.writeText(code).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Select and copy it yourself"),
      );
      setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    });
    bar.append(button);
  }
}
