import { join } from "node:path";
import { PROJECT_ROOT } from "./build.ts";
import { reportErrors } from "./terminal/command-line.ts";
import { contextOf } from "./settings/settings.ts";
import { createServiceApp } from "./service-app.ts";
import { processTerminal } from "./terminal/terminal.ts";

/** The command in `cdk.json`. `node infra/cdk-app.ts -c stage=prod` also synthesizes, into `cdk.out`. */
const terminal = processTerminal();
await reportErrors(terminal, () =>
  createServiceApp({
    context: contextOf(terminal.args),
    outdir: terminal.env["CDK_OUTDIR"] ?? join(PROJECT_ROOT, "cdk.out"),
  }).synth(),
);
process.exitCode = terminal.exitCode;
