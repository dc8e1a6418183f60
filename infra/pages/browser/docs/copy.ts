/** How long a button says that it has copied, in milliseconds. */
const SHOWN_MS = 2000;

/** Gives each block of code a button that copies it. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll(".code")) {
    const code = block.querySelector("code")?.textContent ?? "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      void navigator.clipboard.writeText(code).then(
        () => (button.textContent = "Copied"),
        () => (button.textContent = "Select and copy it yourself"),
      );
      setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
    });
    block.append(button);
  }
}
