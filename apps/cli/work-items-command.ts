import { runAsProgram } from "../../infra/terminal.ts";
import { runProgram } from "./work-items/program.ts";

// Without await at the top, which the packed program cannot have.
void runAsProgram(runProgram);
