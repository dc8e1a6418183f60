import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { BUNDLE_OPTIONS, PROJECT_ROOT } from "../../../../infra/build.ts";
import { temporaryDirectory, writtenFunction } from "../written-functions.ts";

/** A function as the local stack builds it, of one source file with seven lines. Line 3 throws. */
const builtFunction = async (name: string, handler: string) => {
  const lines = ["type Order = { readonly id: string };", "const refuse = ({ id }: Order): void => {"];
  const source = [...lines, "  throw new TypeError(`order ${id}\\nsecond line`);", "};", handler].join("\n");
  const file = join(temporaryDirectory(), "orders.ts");
  writeFileSync(file, source);
  const made = writtenFunction(name, "");
  const outfile = join(made.directory, "index.js");
  const maps = { sourcemap: "external", sourcesContent: false, sourceRoot: made.directory } as const;
  await build({ ...BUNDLE_OPTIONS, ...maps, absWorkingDir: PROJECT_ROOT, entryPoints: [file], outfile });
  return made;
};

const LOGGING = `export const handler = async ({ id, status }) => {
  try { refuse({ id }); } catch ({ name, message, stack }) {
    console.error(JSON.stringify({ level: "ERROR", message: "request", request_id: "r-1", route: "get-order", status,
      error: { name, message, stack } }));
  }
};`;

test("prints one line with the source line for an unexpected error, and logs its stack in source lines", async () => {
  const orders = await builtFunction("orders", LOGGING);
  await orders.invoke('{"id":"7","status":500}');
  expect(orders.terminal()).toMatch(
    /^\d\d:\d\d:\d\d get-order 500 TypeError: order 7 at \S+orders\.ts:3 \(request r-1\)\n$/,
  );
  const { error } = JSON.parse(orders.printed()) as { error: { stack: string } };
  expect(error.stack).toMatch(/orders\.ts:3:9\)?\n/);
  expect(error.stack).not.toContain("index.js");
});

test("prints nothing for a response that asks callers to retry", async () => {
  const busy = await builtFunction("busy", LOGGING);
  await busy.invoke('{"id":"7","status":503}');
  expect(busy.terminal()).toBe("");
  expect(busy.printed()).toMatch(/orders\.ts:3:9/);
});

test("prints one line for an invocation that fails", async () => {
  const orders = await builtFunction("failing", "export const handler = async (order: Order) => refuse(order);");
  await orders.invoke('{"id":"7"}', "r-2");
  expect(orders.terminal()).toMatch(/^\d\d:\d\d:\d\d failing TypeError: order 7 at \S+orders\.ts:3 \(request r-2\)\n$/);
});

test("prints one line for a function that ends without a stack", async () => {
  const exiting = writtenFunction("exiting", "exports.handler = async () => process.exit(3);");
  await exiting.invoke("{}", "r-3");
  expect(exiting.terminal()).toMatch(
    /^\S+ exiting Runtime\.ExitError: the instance exited with code 3 \(request r-3\)\n$/,
  );
});

test("logs as it is what only looks like an error", async () => {
  const source = `exports.handler = async () => { console.log('not JSON "level":"ERROR"'); console.log("[null]"); }`;
  const printing = writtenFunction("printing", source);
  await printing.invoke("{}");
  expect([printing.printed(), printing.terminal()]).toEqual(['not JSON "level":"ERROR"\n[null]\n', ""]);
});
