import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { functionNames } from "../../infra/build.ts";
import { synthesize } from "../../infra/local/synthesis.ts";
import { ResolvedTemplate, type Template } from "../../infra/local/template.ts";
import { functionsOf } from "../../infra/local/lambda/template-functions.ts";
import { REGIONS, type RegionCode, regionCodes, stackIdOf } from "../../lib/regions.ts";
import { assemblyOf } from "./synthesized.ts";

const require = createRequire(import.meta.url);
const assembly = assemblyOf();

/** The functions of a template, by their names in `functions/`. */
const functionsIn = (template: Template, region: RegionCode, directory: string) => {
  const stackName = stackIdOf(region);
  const { awsRegion } = REGIONS[region];
  const resolved = new ResolvedTemplate({ template, stackName, region: awsRegion, sqsEndpoint: "http://localhost" });
  return new Map(
    functionsOf(resolved, directory, { AWS_REGION: awsRegion }).map((definition) => [
      definition.name.slice(stackName.length + 1),
      definition,
    ]),
  );
};
/** The functions with their bundles, which are the same in every region. */
const { template, regionCode, directory } = await synthesize();
const built = functionsIn(template, regionCode, directory);

/** Loads a function as Lambda does when it starts, with these variables and no others. @returns the type of its handler */
const start = (name: string, variables: Readonly<Record<string, string>>): string => {
  const file = join(built.get(name)?.directory ?? "", "index.js");
  const { env } = process;
  process.env = { ...variables, AWS_LAMBDA_FUNCTION_NAME: "test" };
  try {
    // Loaded again, so that it reads these variables.
    delete require.cache[file];
    return typeof (require(file) as { readonly handler?: unknown }).handler;
  } finally {
    process.env = env;
  }
};

describe.each(regionCodes)("region %s", (region) => {
  test("has codes that keys and host names can hold", () => {
    expect(region).toMatch(/^[a-z]{2}$/);
    expect(REGIONS[region].awsRegion).toMatch(/^[a-z]{2}(-[a-z]+)+-\d$/);
  });

  test("starts every function with the variables of its template", () => {
    const functions = functionsIn(assembly.getStackByName(stackIdOf(region)).template, region, assembly.directory);
    expect([...functions.keys()].toSorted()).toEqual(functionNames.toSorted());
    for (const [name, { environment }] of functions) {
      expect([name, start(name, environment)]).toEqual([name, "function"]);
    }
  });
});
