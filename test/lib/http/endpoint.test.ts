import { setTimeout as sleep } from "node:timers/promises";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, describe, expect, it } from "vitest";
import {
  ExternalIdTakenError,
  InvalidInputError,
  NotFoundError,
  PreconditionFailedError,
  StateConflictError,
  StoreBusyError,
} from "../../../lib/errors.ts";
import { BODY_MAX_BYTES } from "../../../lib/http/request-body.ts";
import { cpuMillisecondsOf } from "../../support/cpu-time.ts";
import { injectFaults, withoutTimeouts } from "../../support/faults.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { apiEvent, call, createTestOrganization } from "../../support/organization.ts";
import { body, echo, endpoint, organization, request, runtime } from "./test-endpoint.ts";

const failWith = (error: unknown) => endpoint(() => Promise.reject(error));

describe("endpoint", () => {
  beforeEach(withoutTimeouts);

  it("passes the organization and the validated input to the handler, and responds with the route's status", async () => {
    const id = "0B0CF3C8-5D0E-8B1A-9D5C-2F6F6A1C9B1E";
    const response = await call(echo(), request({ params: { id }, query: { limit: 7 }, headers: { "X-TEST": "yes" } }));
    expect(response).toMatchObject({
      status: 201,
      headers: { "content-type": "application/json" },
      body: {
        data: {
          organization: organization.id,
          id: id.toLowerCase(),
          query: { limit: 7 },
          parsed: body,
          header: "yes",
        },
      },
    });
  });

  it("responds with the handler's own status and headers", async () => {
    const handler = endpoint(async () => ({
      status: 200,
      headers: { etag: '"3"' },
      body: { data: 1 },
    }));
    expect(await call(handler, request())).toMatchObject({ status: 200, headers: { etag: '"3"' }, body: { data: 1 } });
  });

  it("sends no field that the response's schema does not know", async () => {
    const stray = { data: 1, secret: "inside" };
    const response = await call(
      endpoint(async () => ({ body: stray })),
      request(),
    );
    expect(response).toMatchObject({ status: 500, text: '{"error":"internal error"}' });
  });

  it("names every path of query and body that is not valid in one response", async () => {
    const { status, body: errorBody } = await call(
      echo(),
      request({
        query: { limit: "1000", sort: "up" },
        body: {
          items: [{ name: "a" }, { name: "", size: "big", "odd key": 1 }, {}],
          extra: { "a.b": 1 },
          more: true,
          __proto__x: 0,
        },
      }),
    );
    expect(status).toBe(422);
    expect(errorBody.error?.split("; ").toSorted()).toEqual([
      "__proto__x: is not known",
      'extra["a.b"]: must be a string, not a number',
      "items[1].name: must not be empty",
      "items[1].size: must be a number, not a string",
      'items[1]["odd key"]: is not known',
      "items[2].name: is required",
      "limit: must be at most 100",
      "more: is not known",
      "sort: is not known",
    ]);
  });

  it("names a key called __proto__, escaped too", async () => {
    for (const text of ['{"items":[],"__proto__":1}', '{"items":[],"\\u005f_proto__":1}']) {
      const { status, body: errorBody } = await call(echo(), request({ body: text }));
      expect({ status, error: errorBody.error }).toEqual({ status: 422, error: "__proto__: is not known" });
    }
  });

  it.each(["[]", "null", "1.0", '"text"', "true"])(
    "responds with 422 to the JSON %s instead of an object",
    async (text) => {
      expect((await call(echo(), request({ body: text }))).status).toBe(422);
    },
  );

  it("limits the response's size and time however many problems there are", async () => {
    const items = Array.from({ length: 20_000 }, () => ({ x: 1 }));
    const milliseconds = await cpuMillisecondsOf(async () => {
      const { status, text } = await call(echo(), request({ body: { items } }));
      expect(status).toBe(422);
      expect(text.length).toBeLessThan(300_000);
      expect(text).toMatch(/; and \d+ more"}$/);
    });
    expect(milliseconds).toBeLessThan(5000);
  });

  it("checks key, limit, size, type, syntax and validity in this order", async () => {
    const poor = await createTestOrganization(runtime, { rate: 1, burst: 1 });
    const handler = echo();
    await call(handler, request({ key: poor.key }));
    const wrong = {
      query: { sort: "up" },
      body: "{".repeat(BODY_MAX_BYTES + 1),
      headers: { "content-type": "text/plain" },
    };
    const steps = [
      [401, { ...wrong, key: undefined }],
      [429, { ...wrong, key: poor.key }],
      [413, wrong],
      [415, { ...wrong, body: "{" }],
      [400, { ...wrong, body: "{", headers: {} }],
      [400, { ...wrong, query: { ...wrong.query, limit: "\uFFFD" }, body, headers: {} }],
      [400, { ...wrong, params: { id: "\uFFFD" }, body, headers: {} }],
      [422, { ...wrong, body, headers: {} }],
      [201, { body }],
    ] as const;
    for (const [status, changes] of steps) expect((await call(handler, request(changes))).status).toBe(status);
  });

  it.each([
    [new NotFoundError("no such thing"), 404],
    [new ExternalIdTakenError("taken"), 409],
    [new StateConflictError("ended"), 409],
    [new PreconditionFailedError("changed"), 412],
    [new InvalidInputError([{ path: ["a"], code: "invalid", message: "is wrong" }]), 422],
    [new StoreBusyError("busy"), 503],
  ])("responds to %o with %i and its message", async (error, status) => {
    expect(await call(failWith(error), request())).toMatchObject({ status, body: { error: error.message } });
  });

  it.each([
    new Error("the inside"),
    new TypeError("the inside"),
    Object.assign(new Error("the inside"), { name: "ValidationException", $metadata: { httpStatusCode: 400 } }),
    Object.assign(new Error("the inside"), { statusCode: 418, expose: true }),
    "the inside",
    undefined,
  ])("responds with 500 without details to %o", async (error) => {
    const { status, text, headers } = await call(failWith(error), request());
    expect({ status, text }).toEqual({ status: 500, text: '{"error":"internal error"}' });
    expect(headers["x-request-id"]).toMatch(/./);
  });

  it("responds with 503 and Retry-After if the table still throttles after all retries", async () => {
    const handler = endpoint(async () => {
      await runtime.dynamodb.send(
        new DescribeTableCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE }) as never,
      );
      return { body: { data: 1 } };
    });
    expect((await call(handler, request())).status).toBe(201);
    const removeFaults = injectFaults(runtime.dynamodb, (command) =>
      command.startsWith("Describe") ? "throttled" : "none",
    );
    const { status, headers, text } = await call(handler, request());
    removeFaults();
    expect({ status, text }).toEqual({ status: 503, text: '{"error":"the service is busy; retry later"}' });
    expect(headers["retry-after"]).toBe("1");
  });

  it.each([{ name: "TimeoutError" }, { code: "ECONNREFUSED" }, { $metadata: { httpStatusCode: 500 } }])(
    "responds with 503 if the table fails with %o",
    async (properties) => {
      const { status, text } = await call(failWith(Object.assign(new Error("the inside"), properties)), request());
      expect(status).toBe(503);
      expect(text).not.toContain("inside");
    },
  );

  it("responds with 503 just before the function's time ends, and passes that deadline to the handler", async () => {
    const never = Promise.withResolvers<never>();
    const deadlines: number[] = [];
    const handler = endpoint(({ deadline }) => {
      deadlines.push(deadline);
      return never.promise;
    });
    const endsFrom = Date.now() + 3000;
    const context = lambdaContext(3000);
    const endsUntil = Date.now() + 3000;
    const { statusCode, headers } = await handler(apiEvent(request()), context);
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ "retry-after": "1" });
    expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0);
    expect(deadlines[0]).toBeGreaterThanOrEqual(endsFrom - 500);
    // The clock may advance between two readings of it.
    expect(deadlines[0]).toBeLessThanOrEqual(endsUntil - 490);
  });

  it("keeps requests that run at once apart", async () => {
    const handler = endpoint(async ({ body: { items } }) => {
      await sleep(Math.random() * 20);
      return { body: { data: items[0]?.name } };
    });
    const names = Array.from({ length: 50 }, (_, index) => `item ${index}`);
    const responses = await Promise.all(names.map((name) => call(handler, request({ body: { items: [{ name }] } }))));
    expect(responses.map((response) => response.body["data"])).toEqual(names);
    expect(new Set(responses.map((response) => response.headers["x-request-id"])).size).toBe(50);
  });
});
