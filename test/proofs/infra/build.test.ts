import { FileSystem } from "aws-cdk-lib";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pages } from "../../../functions/pages.ts";
import { buildFunctions, functionNames, PROJECT_ROOT } from "../../../infra/build.ts";
import { REGIONS, regionCodes, stackIdOf } from "../../../lib/regions.ts";
import { createTestRuntime } from "../../support/runtime.ts";
import { bundles as smallBundles, plain, resourcesOf, templateOf } from "../../infra/synthesized.ts";

const require = createRequire(import.meta.url);

describe("the build", () => {
  let outdir: string;
  beforeAll(async () => {
    outdir = await mkdtemp(join(tmpdir(), "work-items-build-"));
    await buildFunctions(outdir);
  });
  afterAll(() => rm(outdir, { recursive: true }));

  /** Loads a function as Lambda does when it starts, with these variables and no others. */
  const start = (name: string, variables: Readonly<Record<string, string>>) => {
    const file = join(outdir, name, "index.js");
    const { env } = process;
    process.env = { ...variables, AWS_LAMBDA_FUNCTION_NAME: "test" };
    try {
      // Loaded again, so that it reads these variables.
      delete require.cache[file];
      return (require(file) as { readonly handler: (payload: unknown, context?: object) => Promise<unknown> }).handler;
    } finally {
      process.env = env;
    }
  };

  test.each(regionCodes)("makes functions that start with the variables of their template in %s", (region) => {
    const { awsRegion } = REGIONS[region];
    const names = resourcesOf(templateOf(region), "AWS::Lambda::Function").map(([, properties]) => {
      const name = String(properties["FunctionName"]).slice(stackIdOf(region).length + 1);
      const { Variables } = plain(properties["Environment"]) as { Variables: Record<string, string> };
      expect([name, typeof start(name, { AWS_REGION: awsRegion, ...Variables })]).toEqual([name, "function"]);
      return name;
    });
    expect(names.toSorted()).toEqual(functionNames.toSorted());
  });

  test("makes one file for each function, which exports its handler", async () => {
    expect((await readdir(outdir)).toSorted()).toEqual(functionNames.toSorted());
    for (const name of functionNames) {
      expect(await readdir(join(outdir, name))).toEqual(name === pages.name ? ["index.js", "pages"] : ["index.js"]);
      const bundle = require(join(outdir, name, "index.js")) as { readonly handler?: unknown };
      expect([name, typeof bundle.handler]).toEqual([name, "function"]);
    }
  });

  test.each([
    ["record-conversation-upload", {}, "InvalidInputError"],
    ["record-qa-score", {}, "InvalidInputError"],
    ["record-qa-score", { organization: "acme", external_id: "unknown", qa_score: 1 }, "NotFoundError"],
    [
      "record-conversation-upload",
      { organization: "unknown", external_id: "call", source: "phone", status: "pending" },
      "NotFoundError",
    ],
  ])("keeps the names of errors: %s fails for %j with %s", async (name, payload, errorType) => {
    const { environment: variables } = await createTestRuntime();
    const environment = Object.fromEntries(
      Object.entries({ ...process.env, ...variables }).map(([key, value]) => [key, String(value)]),
    );
    await expect(start(name, environment)(payload)).rejects.toMatchObject({ name: errorType });
  });

  test("keeps the name of each class of errors that a function can throw", async () => {
    const bundles = await Promise.all(functionNames.map((name) => readFile(join(outdir, name, "index.js"), "utf8")));
    const sources = globSync(["lib/**/*.ts", "functions/**/*.ts"], { cwd: PROJECT_ROOT, exclude: ["apps/client/**"] });
    const classes = sources.flatMap((file) =>
      [...readFileSync(join(PROJECT_ROOT, file), "utf8").matchAll(/^(?:export )?class (\w+) extends \w*Error\b/gm)].map(
        ([, name = ""]) => name,
      ),
    );
    expect(classes).toContain("NotFoundError");
    // The name of the class itself is shortened: only a text can hold it.
    const lost = classes.filter((name) => !bundles.some((code) => code.includes(`"${name}"`)));
    expect(lost).toEqual([]);
  });

  test("keeps the names of functions, which a stack in the log consists of", async () => {
    const bundle = await readFile(join(outdir, "get-work-item/index.js"), "utf8");
    expect(bundle).toContain("function assertVisible(");
  });

  test("has the hashes by which the stacks deploy it", () => {
    const functions = resourcesOf(templateOf("us"), "AWS::Lambda::Function");
    for (const [, { FunctionName: name, Code: code }] of functions) {
      const bundle = join(smallBundles, String(name).slice("WorkItems-us-".length));
      expect(code).toMatchObject({ S3Key: `${FileSystem.fingerprint(bundle)}.zip` });
    }
  });

  test("loads nothing by import(), which would load more of node:http than a require does", async () => {
    const bundles = await Promise.all(functionNames.map((name) => readFile(join(outdir, name, "index.js"), "utf8")));
    expect(functionNames.filter((_, index) => /\bimport\(/.test(bundles[index]!))).toEqual([]);
  });
});
