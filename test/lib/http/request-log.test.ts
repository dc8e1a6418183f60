import { Console } from "node:console";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger } from "@aws-lambda-powertools/logger";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { injectFaults, withoutTimeouts } from "../../support/faults.ts";
import { call } from "../../support/organization.ts";
import { echo, endpoint, key, organization, request, runtime } from "./test-endpoint.ts";

/** The lines that a logger writes while `handle` runs. */
const logged = async (handle: (log: Logger) => Promise<void>): Promise<Record<string, unknown>[]> => {
  const lines: string[] = [];
  const output = new PassThrough().on("data", (chunk: Buffer) => lines.push(chunk.toString()));
  const log = new Logger({ logLevel: "DEBUG" });
  Object.assign(log, { console: new Console(output, output) });
  await handle(log);
  await sleep(5);
  return lines
    .join("")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe("the log", () => {
  beforeEach(withoutTimeouts);

  it("has one line a request, and neither bodies nor keys", async () => {
    const lines = await logged(async (log) => {
      const handler = endpoint(async () => ({ body: { data: "answer-secret" } }), { ...runtime, log });
      await call(handler, request({ body: { items: [{ name: "body-secret" }] } }));
      await call(handler, request({ body: '{"body-secret' }));
      await call(handler, request({ body: { items: "body-secret", "key-secret": 1 } }));
      await call(handler, request({ key: undefined }));
    });
    expect(lines).toHaveLength(4);
    expect(lines.map(({ route: name, organization: id, status }) => ({ name, organization: id, status }))).toEqual([
      { name: "test", organization: organization.id, status: 201 },
      { name: "test", organization: organization.id, status: 400 },
      { name: "test", organization: organization.id, status: 422 },
      { name: "test", organization: undefined, status: 401 },
    ]);
    for (const line of lines) {
      expect(line["request_id"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(line["duration_ms"]).toBeTypeOf("number");
    }
    expect(JSON.stringify(lines)).not.toMatch(/secret/);
    expect(JSON.stringify(lines)).not.toContain(key);
  });

  it("has the error of a 500, but not the error's other properties", async () => {
    const error = Object.assign(new Error("broken"), { input: "body-secret" });
    error.cause = { data: "body-secret" };
    const lines = await logged(async (log) => {
      await call(
        endpoint(() => Promise.reject(error), { ...runtime, log }),
        request(),
      );
    });
    expect(lines).toMatchObject([{ level: "ERROR", status: 500, error: { name: "Error", message: "broken" } }]);
    expect(JSON.stringify(lines)).not.toMatch(/secret/);
  });
});

/** Lets metrics be printed. @returns what is printed */
function printedMetrics(): () => unknown[] {
  vi.stubEnv("POWERTOOLS_METRICS_NAMESPACE", "WorkItems");
  vi.stubEnv("POWERTOOLS_SERVICE_NAME", "work-items");
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "false");
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  return () => printed.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
}

describe("a metric", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it("counts requests that pass because the limiter fails", async () => {
    const printed = printedMetrics();
    const handler = echo();
    const removeFaults = injectFaults(runtime.dynamodb, (command) =>
      command === "UpdateItemCommand" ? "throttled" : "none",
    );
    const { status } = await call(handler, request());
    removeFaults();
    expect(status).toBe(201);
    expect(printed()).toMatchObject([
      {
        service: "work-items",
        LimiterFailedOpen: 1,
        _aws: { CloudWatchMetrics: [{ Namespace: "WorkItems", Dimensions: [["service"]] }] },
      },
    ]);
  });
});
