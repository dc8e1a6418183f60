import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = globSync(["{lib,functions,infra}/**/*.{ts,tsx}"], { cwd: ROOT });
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

/** A room is a folder without folders. A file beside folders is a room of its own. */
const roomOf = (file: string): string => {
  const folder = dirname(file);
  return files.some((each) => dirname(each).startsWith(`${folder}/`)) ? file : folder;
};

/** The first way found from something back to itself, or nothing. */
const circle = (arrows: readonly Import[]): readonly string[] => {
  const next = Map.groupBy(arrows, ({ from }) => from);
  const left = new Set<string>();
  const walk = (place: string, way: readonly string[]): readonly string[] => {
    if (way.includes(place)) return [...way.slice(way.indexOf(place)), place];
    if (left.has(place)) return [];
    for (const { to } of next.get(place) ?? []) {
      const found = walk(to, [...way, place]);
      if (found.length > 0) return found;
    }
    left.add(place);
    return [];
  };
  return [...next.keys()].map((place) => walk(place, [])).find((found) => found.length > 0) ?? [];
};

test("no files and no rooms import each other in a circle", () => {
  expect(
    circle([
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "c", to: "b" },
    ]),
  ).toEqual(["b", "c", "b"]);
  expect(circle(imports)).toEqual([]);
  const arrows = imports.map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }));
  expect(circle(arrows.filter(({ from, to }) => from !== to))).toEqual([]);
});

test("lib knows neither functions nor infra, and functions not infra", () => {
  expect(importing(/^lib\//, /^(functions|infra|test)\//)).toEqual([]);
  expect(importing(/^functions\//, /^(infra|test)\//)).toEqual([]);
  expect(importing(/^infra\//, /^test\//)).toEqual([]);
});

test("http knows no domain, and of a domain only what reads a body or measures a response knows http", () => {
  expect(
    importing(/^lib\/http\//, /^lib\/(work-items|uploads|changes|conversation-uploads|operator|client)\//),
  ).toEqual([]);
  expect(importing(/^lib\/(?!http\/|(work-items|uploads|changes)\/[^/]+$)/, /^lib\/http\//)).toEqual([]);
});

test("rules know no AWS, no HTTP and no environment", () => {
  const rules =
    /^lib\/(work-items\/(plan-apply|undo-layers|work-item|work-item-fields|field-definition|field-kinds)|uploads\/(csv|mapping)\/[^/]+|schema|cell-value|json|identity|regions)\.ts$/;
  expect(importing(rules, /^lib\/(store|aws|http)\//)).toEqual([]);
  expect(files.filter((file) => rules.test(file) && textOf(file).includes("@aws-sdk"))).toEqual([]);
});

test("what is deployed does not know the local service", () => {
  expect(importing(/^infra\/(?!local\/)/, /^infra\/local\//)).toEqual([]);
});

test("the importer knows the service's rules and client, page and command know the importer, and not each other", () => {
  expect(
    importing(/^infra\/importer\//, /^(functions|infra\/(?!importer\/)|lib\/(?!uploads\/(csv|mapping)\/|client\/))/),
  ).toEqual([]);
  expect(importing(/^infra\/cli\/work-items\//, /^infra\/importer\//)).not.toEqual([]);
  expect(importing(/^infra\/cli\//, /^infra\/pages\//)).toEqual([]);
  expect(importing(/^infra\/pages\//, /^infra\/(cli|local)\//)).toEqual([]);
});

test("what the SDK calls its errors is known only where AWS is talked to", () => {
  const names = /"(\w+Exception|\w*Throttl\w*|NoSuch\w+|ConditionalCheckFailed|PreconditionFailed|AccessDenied)"/;
  const rooms = /^(lib\/aws\/|lib\/store\/write-outcome\.ts$|infra\/)/;
  expect(files.filter((file) => !rooms.test(file) && names.test(textOf(file)))).toEqual([]);
});
