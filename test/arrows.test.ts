import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync(["{lib,functions,infra}/**/*.ts"], { cwd: ROOT });
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const imports: readonly Import[] = files.flatMap((from) =>
  [...textOf(from).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, path = ""]) => ({
    from,
    to: normalize(join(dirname(from), path)),
  })),
);

const importing = (from: RegExp, to: RegExp): string[] =>
  imports.filter((each) => from.test(each.from) && to.test(each.to)).map((each) => `${each.from} → ${each.to}`);

test("the imports are found", () => {
  expect(imports.length).toBeGreaterThan(300);
  expect(importing(/^functions\//, /^lib\//)).not.toEqual([]);
});

test("lib knows neither functions nor infra, and functions not infra", () => {
  expect(importing(/^lib\//, /^(functions|infra|test)\//)).toEqual([]);
  expect(importing(/^functions\//, /^(infra|test)\//)).toEqual([]);
  expect(importing(/^infra\//, /^test\//)).toEqual([]);
});

test("only lib/http knows HTTP: no other room of lib imports it", () => {
  expect(importing(/^lib\/(?!http\/)/, /^lib\/http\//)).toEqual([]);
});

test("rules know no AWS and no environment", () => {
  const rules =
    /^lib\/(work-items\/(plan-apply|work-item|work-item-fields|field-definition)|schema-problems|scalars|json|identity|regions)\.ts$/;
  expect(importing(rules, /^lib\/(dynamodb|runtime|queue|http)\//)).toEqual([]);
  expect(files.filter((file) => rules.test(file) && textOf(file).includes("@aws-sdk"))).toEqual([]);
});

test("what is deployed does not know the local stack", () => {
  expect(importing(/^infra\/(?!local\/)/, /^infra\/local\//)).toEqual([]);
});

test("what the SDK calls its errors is known only where AWS is talked to", () => {
  const names = /"(\w+Exception|\w*Throttl\w*|NoSuch\w+|ConditionalCheckFailed|PreconditionFailed|AccessDenied)"/;
  const rooms = /^(lib\/(runtime|dynamodb)\/|lib\/uploads\/files\/upload-objects\.ts|infra\/)/;
  expect(files.filter((file) => !rooms.test(file) && names.test(textOf(file)))).toEqual([]);
});
