import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "./build.ts";

/** CDK context: values by name, from `-c name=value` and cdk.json. */
export type Context = Readonly<Record<string, unknown>>;

/** The context in cdk.json, which the CDK's command line passes to the app; other callers must read it themselves. */
export function projectContext(): Context {
  return (JSON.parse(readFileSync(join(PROJECT_ROOT, "cdk.json"), "utf8")) as { context: Context }).context;
}

/** The `-c name=value` options of a command line; all its other arguments are ignored. */
export function contextOf(commandArguments: readonly string[]): Context {
  const { values } = parseArgs({
    args: [...commandArguments],
    strict: false,
    options: { context: { type: "string", short: "c", multiple: true } },
  });
  const pairs = (values.context ?? []).map(String);
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)));
}
