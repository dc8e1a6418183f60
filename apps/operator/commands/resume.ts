import { runAsProgram } from "@work-items/terminal/terminal.ts";
import { resumeCommand } from "./pause.ts";

await runAsProgram(resumeCommand);
