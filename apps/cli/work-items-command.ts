import { runAsProgram } from "../../infra/terminal.ts";
import { runProgram } from "./work-items/program.ts";

// The packed program doesn't support await at the top level.
void runAsProgram(runProgram);
