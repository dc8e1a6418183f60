import { globSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { pages } from "../../functions/pages.ts";
import { allRoutes } from "../../functions/routes.ts";
import { allWorkers } from "../../functions/workers.ts";
import { buildFunctions, FUNCTION_OPTIONS, functionNames, PROJECT_ROOT } from "../../infra/build.ts";
import { createLambdaFunction } from "../../infra/local/lambda-function.ts";
import { createPatternReader } from "../../lib/uploads/mapping/date-pattern.ts";
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
    const target = createLambdaFunction(
      { ...FUNCTION, name, arn: name, directory: join(outdir, name), environment },
      [],
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
    const code = await readFile(join(outdir, "split-upload", "index.js"), "utf8");
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
    const sizes = [
      ...allRoutes().map(({ name }) => ({ name, kilobytesMax: 450 })),
      ...allWorkers.map(({ name }) => ({ name, kilobytesMax: 560 })),
    ];
    for (const { name, kilobytesMax } of sizes) {
      const { size } = await stat(join(outdir, name, "index.js"));
      expect([name, size / 1024 < kilobytesMax]).toEqual([name, true]);
    }
  });

  test("reads dates as the code does that is not bundled, in all fields that a pattern may have", async () => {
    const outfile = join(outdir, "..", `${basename(outdir)}-date-pattern.cjs`);
    onTestFinished(() => rm(outfile));
    await build({ ...FUNCTION_OPTIONS, entryPoints: ["lib/uploads/mapping/date-pattern.ts"], outfile });
    const bundled = require(outfile) as { readonly createPatternReader: typeof createPatternReader };
    const dates = [
      ["Thu, 1 Jun 2023 at 9 o'clock", "EEE, d MMM yyyy 'at' H 'o''clock'"],
      ["Thursday, June 1st, 2023", "EEEE, MMMM do, yyyy"],
      ["06/1/23 11:05:09 PM", "L/d/yy h:mm:ss a"],
      ["2023 06 01 24 05", "u MM dd kk mm"],
      ["12 noon on 1.6.2023", "h b 'on' d.M.y"],
      ["2023-06-01 11:05:09.123 AM +02:00", "y-M-dd KK:m:s.SSS a XXX"],
      ["2023-06-01 11:05:09 +0200", "yyyy-MM-dd H:mm:ss xx"],
    ] as const;
    const times = (read: typeof createPatternReader) => dates.map(([text, pattern]) => read(pattern)(text));
    expect(times(bundled.createPatternReader)).toEqual(times(createPatternReader));
    expect(times(createPatternReader).map((time) => new Date(time).getUTCFullYear())).toEqual(dates.map(() => 2023));
  });
});
