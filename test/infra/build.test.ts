import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { pages } from "../../functions/pages.ts";
import { allRoutes } from "../../functions/routes.ts";
import { allWorkers } from "../../functions/workers.ts";
import { buildFunctions, functionNames, PROJECT_ROOT } from "../../infra/build.ts";
import { createLambdaFunction } from "../../infra/local/lambda-function.ts";
import type { Route } from "../../lib/http/route.ts";
import { createTestRuntime } from "../support/runtime.ts";

const require = createRequire(import.meta.url);

describe("the build", () => {
  const FUNCTION = { handler: "index.handler", memoryMb: 512, timeoutSeconds: 20, concurrency: 1 } as const;
  let outdir: string;
  beforeAll(async () => {
    outdir = await mkdtemp(join(tmpdir(), "work-items-build-"));
    await buildFunctions(outdir);
  });
  afterAll(() => rm(outdir, { recursive: true }));

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
    const log = new PassThrough().resume();
    const target = createLambdaFunction(
      { ...FUNCTION, name, arn: name, directory: join(outdir, name), environment },
      log,
    );
    onTestFinished(() => target.stop());
    expect(await target.invoke(JSON.stringify(payload))).toMatchObject({ ok: false, error: { errorType } });
  });

  test("keeps the name of each class of errors that a function can throw", async () => {
    const bundles = await Promise.all(functionNames.map((name) => readFile(join(outdir, name, "index.js"), "utf8")));
    const sources = globSync(["lib/**/*.ts", "functions/*.ts"], { cwd: PROJECT_ROOT, exclude: ["lib/client/**"] });
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

  test("leaves out what a function does not use of the SDK", async () => {
    const code = await readFile(join(outdir, "upload-work-items", "index.js"), "utf8");
    expect(code).toContain("PutObjectRequest");
    expect(code).not.toContain("PutBucketLifecycleConfigurationRequest");
    expect(code).not.toMatch(/\bimport\(/);
  });

  test("wraps no module into a function that runs at its first import, which would keep all of its code", async () => {
    // What esbuild's helper for such modules is once it is minified: `e=t(t=0)`.
    const HELPER = /\b\w+=(\w+)\(\1=0\)/;
    const bundles = await Promise.all(functionNames.map((name) => readFile(join(outdir, name, "index.js"), "utf8")));
    expect(functionNames.filter((_, index) => HELPER.test(bundles[index]!))).toEqual([]);
  });

  test("keeps every function small enough to start fast", async () => {
    const [KILOBYTES_MAX, WITH_S3_KILOBYTES_MAX] = [400, 640];
    const rows: readonly Pick<Route, "name" | "permissions">[] = [...allRoutes(), ...allWorkers];
    for (const {
      name,
      permissions: { uploads },
    } of rows) {
      const { size } = await stat(join(outdir, name, "index.js"));
      const max = uploads && !uploads.signsOnly ? WITH_S3_KILOBYTES_MAX : KILOBYTES_MAX;
      expect([name, size / 1024 < max]).toEqual([name, true]);
    }
  });
});
