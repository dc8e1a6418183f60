import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PAYLOAD_MAX_BYTES } from "../../../../infra/local/lambda/instance.ts";
import { PayloadTooLargeError } from "../../../../infra/local/lambda/lambda-function.ts";
import { temporaryDirectory, writtenFunction } from "../written-functions.ts";

const resultOf = async (invoked: ReturnType<ReturnType<typeof writtenFunction>["invoke"]>): Promise<unknown> => {
  const invocation = await invoked;
  return invocation.ok ? JSON.parse(invocation.payload) : invocation.error;
};

test("hands over the event and the context that Lambda gives", async () => {
  const echo = writtenFunction(
    "echo",
    `exports.handler = async (event, context) => ({ event, id: context.awsRequestId, name: context.functionName,
      memory: context.memoryLimitInMB, remaining: context.getRemainingTimeInMillis() })`,
  );
  const result = await resultOf(echo.invoke('{"a":1}', "request-1"));
  expect(result).toMatchObject({ event: { a: 1 }, id: "request-1", name: "echo", memory: "128" });
  expect((result as { remaining: number }).remaining).toBeGreaterThan(4000);
  expect((result as { remaining: number }).remaining).toBeLessThanOrEqual(5000);
});

test("gives a function its own environment and none of this process's", async () => {
  const environment = writtenFunction("environment", "exports.handler = async () => ({ ...process.env })", {
    environment: { TABLE: "work-items" },
  });
  const variables = await resultOf(environment.invoke("{}"));
  expect(variables).toMatchObject({ TABLE: "work-items", AWS_LAMBDA_FUNCTION_NAME: "environment" });
  expect(variables).not.toHaveProperty("PATH");
});

test("keeps an instance for the next event and never gives it two at once", async () => {
  const source = `let events = 0, running = 0, most = 0;
    exports.handler = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return { events: ++events, most };
    }`;
  const counting = writtenFunction("counting", source, { concurrency: 1 });
  const results = await Promise.all([1, 2, 3].map(() => resultOf(counting.invoke("{}"))));
  expect(results).toEqual([
    { events: 1, most: 1 },
    { events: 2, most: 1 },
    { events: 3, most: 1 },
  ]);
});

test("starts another instance for an event that comes while the others are busy", async () => {
  const source = `let events = 0;
    exports.handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return ++events;
    }`;
  const short = writtenFunction("short", source, { concurrency: 4 });
  await short.invoke("{}");
  const results = await Promise.all([1, 2].map(() => resultOf(short.invoke("{}"))));
  expect(results).toEqual([2, 1]);
});

test("runs as many events at once as it may", async () => {
  const file = join(temporaryDirectory(), "spans");
  // An event ends some time after another one has started too.
  const source = `const { appendFileSync, readFileSync } = require("node:fs");
    const wait = () => new Promise((resolve) => setTimeout(resolve, 100));
    exports.handler = async ({ file }) => {
      appendFileSync(file, "+1\\n");
      do await wait(); while (readFileSync(file, "utf8").split("+").length <= 2);
      appendFileSync(file, "-1\\n");
    }`;
  const slow = writtenFunction("slow", source, { concurrency: 2, timeoutSeconds: 60 });
  await Promise.all([1, 2, 3].map(() => slow.invoke(JSON.stringify({ file }))));
  let running = 0;
  const steps = readFileSync(file, "utf8").trim().split("\n");
  const atOnce = steps.map((step) => (running += Number(step)));
  expect([atOnce.length, Math.max(...atOnce)]).toEqual([6, 2]);
});

test("ends an instance at its timeout and starts another for the next event", async () => {
  const source = "exports.handler = async (event) => (event.hang ? new Promise(() => {}) : 'answered')";
  const hanging = writtenFunction("hanging", source, { timeoutSeconds: 1, concurrency: 1 });
  expect(await resultOf(hanging.invoke('{"hang":true}'))).toMatchObject({ errorType: "Sandbox.Timedout" });
  expect(await resultOf(hanging.invoke("{}"))).toBe("answered");
});

test("reports a thrown error, and continues with the same instance", async () => {
  const source = `let events = 0;
    exports.handler = async (event) => { events++; if (event.bad) throw new TypeError("no good"); return events; }`;
  const throwing = writtenFunction("throwing", source, { concurrency: 1 });
  expect(await resultOf(throwing.invoke('{"bad":true}'))).toMatchObject({
    errorType: "TypeError",
    errorMessage: "no good",
  });
  expect(await resultOf(throwing.invoke("{}"))).toBe(2);
  expect(throwing.printed()).toContain("no good");
});

test("survives a function that ends its process", async () => {
  const source = "exports.handler = async (event) => { if (event.exit) process.exit(3); return 'alive'; }";
  const exiting = writtenFunction("exiting", source, { concurrency: 1 });
  expect(await resultOf(exiting.invoke('{"exit":true}'))).toMatchObject({ errorType: "Runtime.ExitError" });
  expect(await resultOf(exiting.invoke("{}"))).toBe("alive");
});

test("ends an instance that needs more memory than it has", async () => {
  const source =
    "exports.handler = async (event) => { const all = []; for (;;) all.push(new Array(1e5).fill(event)); }";
  const greedy = writtenFunction("greedy", source, { memoryMb: 32 });
  expect(await resultOf(greedy.invoke("{}"))).toMatchObject({ errorMessage: expect.stringContaining("memory") });
});

test("says why code does not load", async () => {
  const broken = writtenFunction("broken", "throw new Error('ACCESS_TABLE is missing')");
  expect(await resultOf(broken.invoke("{}"))).toMatchObject({ errorMessage: "ACCESS_TABLE is missing" });
});

test("takes events and results of 6 MB and not more", async () => {
  const sizes = writtenFunction("sizes", "exports.handler = async (event) => 'x'.repeat(event.size ?? 0)");
  const full = JSON.stringify({ pad: "x".repeat(PAYLOAD_MAX_BYTES - '{"pad":""}'.length) });
  expect(await resultOf(sizes.invoke(full))).toBe("");
  await expect(sizes.invoke(`${full} `)).rejects.toThrow(PayloadTooLargeError);
  const withQuotes = (size: number): string => JSON.stringify({ size: size - 2 });
  expect(await resultOf(sizes.invoke(withQuotes(PAYLOAD_MAX_BYTES)))).toHaveLength(PAYLOAD_MAX_BYTES - 2);
  expect(await resultOf(sizes.invoke(withQuotes(PAYLOAD_MAX_BYTES + 1)))).toMatchObject({
    errorType: "Function.ResponseSizeTooLarge",
  });
});

test("keeps one instance of those that are idle", async () => {
  const source = `const instance = Math.random();
    exports.handler = async () => { await new Promise((resolve) => setTimeout(resolve, 100)); return instance; }`;
  const reduced = writtenFunction("reduced", source, {}, 50);
  const invokeTwo = async () => new Set(await Promise.all([1, 2].map(() => resultOf(reduced.invoke("{}")))));
  const before = await invokeTwo();
  expect(before.size).toBe(2);
  const both = async () => [...(await invokeTwo())].filter((instance) => before.has(instance)).length;
  await expect.poll(both, { interval: 200, timeout: 20_000 }).toBe(1);
});

test("keeps the compiled code for the next instance", async () => {
  const compileCache = temporaryDirectory();
  const compiled = writtenFunction("compiled", "exports.handler = async () => 1", { compileCache });
  await compiled.invoke("{}");
  const files = () => readdirSync(compileCache, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  await expect.poll(() => files().length).toBe(1);
});

test("logs what a function prints before it responds", async () => {
  const source = `exports.handler = async () => {
    console.log("hello");
    console.error("from %s", "inside");
    await new Promise((done) => process.stdout.write("to the end", "utf8", done));
  }`;
  const printing = writtenFunction("printing", source);
  expect(await printing.invoke("{}")).toMatchObject({ ok: true });
  expect(printing.printed()).toBe("hello\nfrom inside\nto the end");
});

test("logs what a function printed before its instance ended", async () => {
  const source = "exports.handler = async () => { console.log('so far'); for (;;) {} }";
  const endless = writtenFunction("endless", source, { timeoutSeconds: 1 });
  expect(await endless.invoke("{}")).toMatchObject({ ok: false });
  expect(endless.printed()).toMatch(/^so far\n/);
});
