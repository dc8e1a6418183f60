import { join } from "node:path";
import { PROJECT_ROOT } from "./build.ts";
import { reportErrors } from "./terminal/command-line.ts";
import { contextOf } from "./settings/settings.ts";
import { createServiceApp } from "./service-app.ts";
import { processTerminal } from "./terminal/terminal.ts";

/** The command in `cdk.json`. `node infra/cdk-app.ts -c stage=prod` also synthesizes, into `cdk.out`. */
const terminal = processTerminal();
await reportErrors(terminal, () => {
  const outdir = terminal.env["CDK_OUTDIR"] ?? join(PROJECT_ROOT, "cdk.out");
  const app = createServiceApp({ context: contextOf(terminal.args), outdir });
  terminal.note("Making each region's template and checking it: this takes about a minute …");
  const { stacks } = app.synth();
  for (const { stackName, templateFullPath } of stacks) terminal.note(`${stackName}: ${templateFullPath}`);
});
process.exitCode = terminal.exitCode;
