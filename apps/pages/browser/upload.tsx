import { isWithoutEval } from "./before.ts";
import { render } from "preact";
import { App } from "./upload/app.tsx";

const content = document.querySelector<HTMLElement>("#content")!;
content.textContent = "";
if (isWithoutEval) render(<App root={new URL(content.dataset["root"] ?? "./", location.href)} />, content);
