import { printable, runAsProgram } from "@work-items/terminal/terminal.ts";
import { runProgram } from "./work-items/program.ts";

// Node would print the line of code too, and the packed program has its code in one line.
process.on("uncaughtException", (error) => {
  process.stderr.write(`work-items: ${printable(String(error))}\n`);
  process.exit(1);
});
// The packed program doesn't support await at the top level.
void runAsProgram(runProgram);
