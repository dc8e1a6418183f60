import { processTerminal } from "../terminal.ts";
import { runProgram } from "./work-items/program.ts";

// A reader such as head may end before the output does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
// Without await at the top, which the packed program cannot have.
void runProgram(processTerminal()).then((code) => {
  process.exitCode = code;
});
