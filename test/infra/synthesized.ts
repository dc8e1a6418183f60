import { CloudAssembly } from "aws-cdk-lib/cx-api";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionNames } from "../../infra/build.ts";
import type { Context } from "../../infra/settings/settings.ts";
import { createServiceApp } from "../../infra/service-app.ts";
import { type RegionCode, regionCodes, stackIdOf } from "../../lib/regions.ts";
import type { StageSettings } from "../../infra/settings/stage-settings.ts";

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A synthesized template. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
  readonly Parameters: Readonly<Record<string, unknown>>;
}

/** Removed with the suite's temporary files. */
const directory = mkdtempSync(join(tmpdir(), "work-items-synth-"));

/** Directories like those of the build. Their content affects only hashes in a template. */
export const bundles = join(directory, "bundles");
for (const name of functionNames) {
  mkdirSync(join(bundles, name), { recursive: true });
  writeFileSync(join(bundles, name, "index.js"), "exports.handler = async () => {};");
}

/** Settings of a stage; without `regions`, of all. */
type TestSettings = Partial<StageSettings>;

/** What `-c name=value` sets. */
type TestContext = Context & { readonly stage?: string };

/**
 * The app of a stage with these settings, and code that needs no build.
 * @param validates whether CloudFormation's rules check it, which takes seconds; `template-rules.test.ts` does it
 */
export const makeApp = (settings: TestSettings = {}, context: TestContext = {}, validates = false) =>
  createServiceApp({
    context,
    validates,
    stages: {
      [context.stage ?? "dev"]: { regions: Object.fromEntries(regionCodes.map((code) => [code, {}])), ...settings },
    },
    outdir: mkdtempSync(join(directory, "app-")),
    bundles,
  });

const assemblies = new Map<string, CloudAssembly>();

/** Synthesizes an app into a directory. Another worker may be faster: then its files stay. */
const synthesizeInto = (outdir: string, app: ReturnType<typeof makeApp>): void => {
  const { directory: made } = app.synth();
  try {
    renameSync(made, outdir);
  } catch (error) {
    if (!existsSync(outdir)) throw error;
  }
};

/**
 * The cloud assembly of these settings, checked by cdk-nag: made once for all files of the suite, none of which changes
 * it.
 */
export const assemblyOf = (settings: TestSettings = {}, context: TestContext = {}): CloudAssembly => {
  const name = createHash("sha256")
    .update(JSON.stringify([settings, context]))
    .digest("hex");
  const outdir = join(tmpdir(), `assembly-${name}`);
  if (!existsSync(outdir)) synthesizeInto(outdir, makeApp(settings, context));
  const assembly = assemblies.get(name) ?? new CloudAssembly(outdir);
  assemblies.set(name, assembly);
  return assembly;
};

/** The template of a region. */
export const templateOf = (region: RegionCode, settings: TestSettings = {}, context: TestContext = {}): Template =>
  assemblyOf(settings, { ...context, region }).getStackArtifact(stackIdOf(region)).template as Template;

/** The templates of two regions. Only those that are read are synthesized. */
export const synthesize = (
  settings: TestSettings = {},
  context: TestContext = {},
): { readonly us: Template; readonly eu: Template } => ({
  get us() {
    return templateOf("us", settings, context);
  },
  get eu() {
    return templateOf("eu", settings, context);
  },
});

/** Logical ids and properties of all resources of a type. */
export const resourcesOf = (template: Template, type: string): readonly (readonly [string, Resource["Properties"]])[] =>
  Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, { Properties }]) => [id, Properties ?? {}]);

/** The properties of the only resource of a type. */
export const resourceOf = (template: Template, type: string): Resource["Properties"] => {
  const [only, ...others] = resourcesOf(template, type);
  if (only === undefined || others.length > 0) throw new Error(`${others.length + 1} of ${type}`);
  return only[1];
};

/** The logical id of a resource, by the path of its construct. */
export const idOf = (template: Template, path: string, type: string): string => {
  const [only, ...others] = resourcesOf(template, type).filter(([id]) => id.replace(/[0-9A-F]{8}$/, "") === path);
  if (only === undefined || others.length > 0) throw new Error(`${others.length + 1} of ${type} ${path}`);
  return only[0];
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Intrinsic functions as text: `{ "Fn::GetAtt": ["Table", "Arn"] }` is `Table.Arn`, a join is what it joins. */
export const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  if (typeof value["Ref"] === "string") return value["Ref"];
  if (Array.isArray(value["Fn::GetAtt"])) return value["Fn::GetAtt"].join(".");
  if (Array.isArray(value["Fn::Join"])) {
    const [separator, values] = value["Fn::Join"] as [string, unknown[]];
    return values.map(plain).join(separator);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
};
