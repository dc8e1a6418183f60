import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { PROJECT_ROOT } from "../../infra/build.ts";

const packages = z.record(z.string(), z.string()).default({});
const manifestSchema = z.object({
  name: z.string(),
  workspaces: z.array(z.string()).default([]),
  exports: z.record(z.string(), z.unknown()).optional(),
  scripts: packages,
  dependencies: packages,
  devDependencies: packages,
  optionalDependencies: packages,
});

/** What the package.json of a directory says. `dependencies` are all: those of development and optional ones too. */
export function manifestOf(directory: string) {
  const text = readFileSync(join(PROJECT_ROOT, directory, "package.json"), "utf8");
  const { dependencies, devDependencies, optionalDependencies, ...manifest } = manifestSchema.parse(JSON.parse(text));
  return { ...manifest, dependencies: { ...dependencies, ...devDependencies, ...optionalDependencies } };
}

/** The directories of the workspaces. */
export const { workspaces } = manifestOf(".");
