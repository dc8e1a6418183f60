import { runAsProgram } from "../../../infra/terminal.ts";
import { resumeCommand } from "./pause.ts";

await runAsProgram(resumeCommand);
