import { runProgram } from "./work-items/program.ts";

// A reader such as head may end before the output does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
// Without await at the top, which the packed program cannot have.
void runProgram(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
