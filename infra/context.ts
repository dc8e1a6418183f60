import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "./build.ts";

/** Values by name, as `-c name=value` and cdk.json give them. */
export type Context = Readonly<Record<string, unknown>>;

/** The CDK's own command line passes the context of cdk.json along; whoever runs the app without it needs this. */
export const projectContext = (): Context =>
  (JSON.parse(readFileSync(join(PROJECT_ROOT, "cdk.json"), "utf8")) as { context: Context }).context;

/** The `-c name=value` among the arguments of a command; everything else is the command's own. */
export const contextOf = (commandArguments: readonly string[]): Context => {
  const { values } = parseArgs({
    args: [...commandArguments],
    strict: false,
    options: { context: { type: "string", short: "c", multiple: true } },
  });
  const pairs = (values.context ?? []).map(String);
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)));
};
