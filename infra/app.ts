import { join } from "node:path";
import { PROJECT_ROOT } from "./build.ts";
import { reportErrors } from "./command-line.ts";
import { contextOf } from "./context.ts";
import { createServiceApp } from "./service-app.ts";

/** The command in `cdk.json`. `node infra/app.ts -c stage=prod` also synthesizes, into `cdk.out`. */
await reportErrors(() =>
  createServiceApp({
    context: contextOf(process.argv.slice(2)),
    outdir: process.env["CDK_OUTDIR"] ?? join(PROJECT_ROOT, "cdk.out"),
  }).synth(),
);
