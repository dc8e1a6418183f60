import { runProgram } from "../command-line/program.ts";

// A reader such as head may end before the output does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
process.exitCode = await runProgram(process.argv.slice(2));
