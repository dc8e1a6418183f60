import { render } from "preact";
import { App } from "./upload/app.tsx";

// The other browsers of `build-pages.ts` can do it.
if (!("rawJSON" in JSON)) await import("./older-browser.ts");

/** What the service's code in the page needs of Node's Buffer. */
const Buffer = { byteLength: (text: string): number => new TextEncoder().encode(text).length };
Object.assign(globalThis, { Buffer });

const content = document.querySelector<HTMLElement>("#content")!;
content.textContent = "";
render(<App root={new URL(content.dataset["root"] ?? "./", location.href)} />, content);
