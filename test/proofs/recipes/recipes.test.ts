import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { childEnvironment } from "../../support/child-environment.ts";
import { copyCheckout } from "../../support/checkout-copy.ts";
import { applyRecipes, namedTests } from "../../support/recipes.ts";

const copy = copyCheckout();
beforeAll(() => applyRecipes(copy));
afterAll(() => rmSync(copy, { recursive: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: "utf8",
    env: childEnvironment(),
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, printed: stdout + stderr };
};

it("documents and compiles what the recipes add", () => {
  expect(run("infra/openapi/write-document.ts")).toMatchObject({ status: 0 });
  expect(readFileSync(join(copy, "docs/openapi.json"), "utf8")).toMatch(
    /"\/v1\/work_items\/\{id\}\/agent"[^]*"difficulty"/,
  );
  expect(run("node_modules/typescript/bin/tsc", "-p", ".")).toEqual({ status: 0, printed: "" });
});

// It takes minutes: npm run prove -- recipes.
it.runIf(process.env["RECIPES"] === "all")(
  "passes the tests that the recipes name",
  () => {
    const { status, printed } = run("test/run-suite.ts", ...namedTests());
    expect(status, printed.slice(-20_000)).toBe(0);
  },
  3_600_000,
);
