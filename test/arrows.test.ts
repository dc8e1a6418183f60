import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { manifestOf, workspaces } from "./support/manifests.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}
interface NamedImport extends Import {
  readonly name: string;
}

const files = globSync(["{lib,functions,infra,apps}/**/*.{ts,tsx}"], { cwd: ROOT, exclude: ["**/dist/**"] });
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** What each file names in its imports, except Node's modules. */
const named: readonly { readonly from: string; readonly name: string }[] = files.flatMap((from) =>
  [...textOf(from).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+|@?[a-z][\w./-]*)"/g)].map(([, name = ""]) => ({
    from,
    name,
  })),
);
const packageIn = (name: string): string => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "";

/** The file that an import names, by its path or by the workspace that exports it; undefined if it isn't ours. */
const fileOf = ({ from, name }: { readonly from: string; readonly name: string }): string | undefined => {
  if (name.startsWith(".")) return normalize(join(dirname(from), name));
  const workspace = workspaces.find((each) => manifestOf(each).name === packageIn(name));
  if (workspace === undefined) return undefined;
  const exported = manifestOf(workspace).exports?.[name.replace(packageIn(name), ".")];
  if (typeof exported !== "string") throw new Error(`${from}: ${workspace} doesn't export ${name}`);
  return join(workspace, exported);
};
const imports: readonly NamedImport[] = named.flatMap((each) => {
  const to = fileOf(each);
  return to === undefined ? [] : [{ ...each, to }];
});

const importing = (from: RegExp, to: RegExp): string[] =>
  imports.filter((each) => from.test(each.from) && to.test(each.to)).map((each) => `${each.from} → ${each.to}`);

test("the imports are found", () => {
  expect(imports.length).toBeGreaterThan(300);
  expect(importing(/^functions\//, /^lib\//)).not.toEqual([]);
  expect(workspaces.filter((each) => importing(new RegExp(`^${each}/`), /^/).length === 0)).toEqual([]);
});

/**
 * A room is a folder of the service, with the files directly in it. Beside the rooms of `lib`, and in `infra` and `apps` beside
 * folders, facts and programs are rooms of their own. Undo is a part of the room that it belongs to.
 */
const roomOf = (file: string): string => {
  const folder = dirname(file);
  if (folder === "lib/work-items/undo") return dirname(folder);
  const isBesideRooms = files.some((each) => dirname(each).startsWith(`${folder}/`));
  return isBesideRooms && (folder === "lib" || folder.startsWith("infra") || folder.startsWith("apps")) ? file : folder;
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

test("no two files of the service and its workspaces have the same name", () => {
  const byName = Map.groupBy(files, (file) => basename(file).replace(/\.tsx?$/, ""));
  expect([...byName.values()].filter((same) => same.length > 1)).toEqual([]);
});

/** The workspace that a file is in; the root, ".", has `functions` and the rest of `infra`. */
const workspaceOf = (file: string): string => workspaces.find((each) => file.startsWith(`${each}/`)) ?? ".";
const crossing = imports.filter(({ from, to }) => workspaceOf(from) !== workspaceOf(to));
const isByName = ({ name }: NamedImport): boolean => !name.startsWith(".");
const isInApps = (file: string): boolean => file.startsWith("apps/");

test("apps import workspaces by name; the service, and the client that tsc builds, import its own by path", () => {
  // tsc rewrites no names in what it builds.
  const isByPath = ({ from, to }: Import): boolean =>
    !isInApps(to) && (!isInApps(from) || from.startsWith("apps/client/"));
  const between = crossing.filter(({ to }) => workspaceOf(to) !== ".");
  expect(between.filter(isByName).length).toBeGreaterThan(400);
  expect(between.filter((each) => isByName(each) === isByPath(each))).toEqual([]);
});

test("the service imports no app, but its build puts the pages beside the function that serves them", () => {
  const arrows = crossing.filter(({ from, to }) => !isInApps(from) && isInApps(to));
  expect(arrows.map(({ from, to }) => [from, to])).toEqual([["infra/build.ts", "apps/pages/build-pages.ts"]]);
});

test("a workspace exports nothing that no other one imports by name", () => {
  const imported = new Set(crossing.filter(isByName).map(({ to }) => to));
  const exported = workspaces.flatMap((each) =>
    Object.values(manifestOf(each).exports ?? {}).flatMap((file) =>
      typeof file === "string" ? [join(each, file)] : [],
    ),
  );
  expect(exported.length).toBeGreaterThan(100);
  expect(exported.filter((file) => !imported.has(file))).toEqual([]);
});

test("every package that a file imports is in the package.json of its workspace", () => {
  const packages = named.filter(({ name }) => !name.startsWith("."));
  expect(new Set(packages.map(({ from }) => workspaceOf(from)))).toEqual(new Set([".", ...workspaces]));
  const missing = packages.filter(({ from, name }) => {
    const { dependencies } = manifestOf(workspaceOf(from));
    return !(packageIn(name) in dependencies || `@types/${packageIn(name)}` in dependencies);
  });
  expect(missing).toEqual([]);
});

test("lib knows neither functions nor infra, functions not infra, the terminal only lib, and none of them the apps", () => {
  expect(importing(/^lib\//, /^(functions|infra|apps|test)\//)).toEqual([]);
  expect(importing(/^functions\//, /^(infra|apps|test)\//)).toEqual([]);
  expect(importing(/^infra\/terminal\//, /^(functions|infra(?!\/terminal)|apps|test)\//)).toEqual([]);
  expect(importing(/^(infra|apps)\//, /^test\//)).toEqual([]);
});

test("a function imports the file of its own row, and only the function that knows every path imports all rows", () => {
  expect(importing(/^functions\//, /^functions\/routes\.ts$/)).toEqual([
    "functions/reject-unknown-route.ts → functions/routes.ts",
  ]);
  expect(importing(/^functions\/[^/]+$/, /^functions\/routes\/[^/]+$/).length).toBeGreaterThan(30);
});

test("http knows no domain, and of the rest of lib only what reads the body of an upload knows http", () => {
  expect(
    importing(/^lib\/http\//, /^lib\/(work-items|uploads|changes|conversation-uploads|webhooks|retention)\//),
  ).toEqual([]);
  expect(importing(/^lib\/(?!http\/|uploads\/files\/upload-body\.ts)/, /^lib\/http\//)).toEqual([]);
});

test("rules know no AWS, no HTTP and no environment", () => {
  const rules =
    /^lib\/(work-items\/(plan-apply|undo\/(layers|plan-undo)|work-item|work-item-fields|field-definition|field-kinds)|uploads\/(csv|mapping)\/[^/]+|schema|cell-value|instant|json|identity|regions)\.ts$/;
  expect(importing(rules, /^lib\/(store|aws|http)\//)).toEqual([]);
  expect(files.filter((file) => rules.test(file) && textOf(file).includes("@aws-sdk"))).toEqual([]);
});

test("what is deployed does not know the local service", () => {
  expect(importing(/^(?!apps\/local\/)/, /^apps\/local\//)).toEqual([]);
});

test("the importer knows the service's rules and client, page and command know the importer, and not each other", () => {
  // Its trial shows items as the service would make them, so it plans with the service's own rules.
  const rules = String.raw`uploads\/(csv|mapping)\/|work-items\/(plan-apply|undo\/plan-undo|work-item|work-item-fields)\.ts|(json|cell-value)\.ts`;
  const others = new RegExp(`^(functions|infra|apps\\/(?!importer\\/|client\\/)|lib\\/(?!${rules}))`);
  expect(importing(/^apps\/importer\//, others)).toEqual([]);
  expect(importing(/^apps\/cli\/work-items\//, /^apps\/importer\//)).not.toEqual([]);
  expect(importing(/^apps\/(cli|operator)\//, /^apps\/pages\//)).toEqual([]);
  expect(importing(/^apps\/pages\//, /^apps\/(cli|operator|local)\//)).toEqual([]);
  expect(importing(/^apps\/cli\//, /^apps\/operator\//)).toEqual([]);
});

test("what the SDK calls its errors is known only where AWS is talked to", () => {
  const names = /"(\w+Exception|\w*Throttl\w*|NoSuch\w+|ConditionalCheckFailed|PreconditionFailed|AccessDenied)"/;
  const rooms = /^(lib\/aws\/|lib\/store\/write-outcome\.ts$|infra\/|apps\/)/;
  expect(files.filter((file) => !rooms.test(file) && names.test(textOf(file)))).toEqual([]);
});

/** What a folder imports, without what follows from its other imports. */
const needed = (arrows: ReadonlyMap<string, ReadonlySet<string>>, folder: string): string[] => {
  const reached = (from: string): string[] => [...(arrows.get(from) ?? [])].flatMap((to) => [to, ...reached(to)]);
  const direct = [...(arrows.get(folder) ?? [])];
  const indirect = new Set(direct.flatMap(reached));
  return direct.filter((to) => !indirect.has(to)).toSorted();
};

test("the diagram in docs/architecture.md shows how the folders depend on each other", () => {
  const folderOf = (file: string): string | undefined =>
    /^(?:functions|infra\/terminal|infra(?=\/)|(?:lib|apps)\/[^/]+(?=\/))/.exec(file)?.[0];
  const arrows = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [one, other] = [folderOf(from), folderOf(to)];
    if (one === undefined || other === undefined || one === other) continue;
    arrows.set(one, (arrows.get(one) ?? new Set()).add(other));
  }
  const lines = [...arrows.keys()]
    .toSorted()
    .flatMap((folder) => needed(arrows, folder).map((to) => `  ${folder} --> ${to}`));
  expect(lines.length).toBeGreaterThan(10);
  expect(readFileSync(join(ROOT, "docs/architecture.md"), "utf8")).toContain(
    ["```mermaid", "flowchart TD", ...lines, "```"].join("\n"),
  );
});

test("docs/architecture.md names files that exist", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const names = [...page.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual([]);
});
