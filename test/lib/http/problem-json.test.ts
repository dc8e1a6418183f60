import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { acceptsProblemJson, errorKinds, PROBLEM_JSON, problemType } from "../../../lib/http/error-table.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { createTestService } from "../../support/service.ts";

let service: Awaited<ReturnType<typeof createTestService>>;
beforeAll(async () => {
  service = await createTestService();
});

type Name = Parameters<typeof service.call>[0];
/** The same request without and with `Accept: application/problem+json`. */
const both = async (name: Name, request: ApiRequest) => {
  const plain = await service.call(name, request);
  const accepting = { ...request, headers: { ...request.headers, Accept: PROBLEM_JSON } };
  const { status, headers, text } = await service.call(name, accepting);
  expect([status, headers["content-type"]]).toEqual([plain.status, PROBLEM_JSON]);
  expect(Object.keys(plain.body)).toEqual(["error"]);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem).toMatchObject({ status, detail: plain.body.error, error: plain.body.error });
  expect(problem["instance"]).toBe(headers["x-request-id"]);
  const type = String(problem["type"]).split(":").at(-1);
  expect(headers["link"]).toMatch(new RegExp(`^<(\\.\\./)+docs/errors#${type}>; rel="help"$`));
  expect(Object.keys(problem)).toEqual(["type", "title", "status", "detail", "instance", "errors", "error"]);
  return [plain, problem] as const;
};

describe("problem details", () => {
  it.each<readonly [string, Name, ApiRequest, unknown[]]>([
    [
      "a body",
      "applyWorkItemBatch",
      { body: { work_items: [{ external_id: "a", agent_email: "x" }] } },
      [{ pointer: "/work_items/0/agent_email", code: "invalid_format", message: "must be an email address" }],
    ],
    [
      "a whole body",
      "createWorkItem",
      { body: [] },
      [{ pointer: "", code: "invalid_type", message: expect.stringMatching(/./) }],
    ],
    [
      "query parameters",
      "listWorkItems",
      { query: { limit: "0", colour: "red" } },
      [
        { parameter: "limit", code: "too_small", message: "must be a whole number from 1 to 100" },
        { parameter: "colour", code: "unknown", message: "is not known" },
      ],
    ],
    [
      "a number that is too big",
      "listWorkItems",
      { query: { limit: "9".repeat(20) } },
      [{ parameter: "limit", code: "too_big", message: "must be a whole number from 1 to 100" }],
    ],
    [
      "a size beyond 2^53",
      "uploadWorkItems",
      { body: { upload: { filename: "a.csv", size: 1e300 } } },
      [{ pointer: "/upload/size", code: "too_big", message: "must be a whole number of bytes from 1 to 5368709120" }],
    ],
    [
      "a repeated parameter",
      "listWorkItems",
      { query: { limit: ["1", "1"] } },
      [{ parameter: "limit", code: "repeated", message: "must be given once" }],
    ],
    [
      "a cursor",
      "listWorkItems",
      { query: { cursor: "x" } },
      [{ parameter: "cursor", code: "invalid_value", message: expect.stringMatching(/^must be a meta.page.next/) }],
    ],
    [
      "If-Match",
      "deleteWorkItem",
      { params: { id: randomUUID() }, headers: { "If-Match": "3" } },
      [{ parameter: "If-Match", code: "invalid_format", message: expect.stringMatching(/^must be \* or/) }],
    ],
    [
      "Idempotency-Key",
      "createWorkItem",
      { body: { work_item: { external_id: "a" } }, headers: { "Idempotency-Key": "ä" } },
      [{ parameter: "Idempotency-Key", code: "invalid_format", message: expect.stringMatching(/printable ASCII/) }],
    ],
  ])("name the place of what is wrong in %s", async (_, name, request, errors) => {
    const [plain, problem] = await both(name, request);
    expect([plain.status, problem["type"], problem["errors"]]).toEqual([
      422,
      "urn:work-items:problem:invalid-input",
      errors,
    ]);
  });

  it("distinguish the kinds of errors", async () => {
    const body = { work_item: { external_id: "once" } };
    await service.call("createWorkItem", { body });
    const requests: readonly (readonly [string, Name, ApiRequest])[] = [
      ["malformed-body", "createWorkItem", { body: "{" }],
      ["malformed-url", "listWorkItems", { query: { external_id: "M\uFFFDller" } }],
      ["unauthenticated", "listWorkItems", { key: undefined }],
      ["not-found", "getWorkItem", { params: { id: "x" } }],
      ["external-id-taken", "createWorkItem", { body }],
      ["body-too-large", "createWorkItem", { body: "x".repeat(5 * 1024 ** 2) }],
      ["unsupported-media-type", "createWorkItem", { body: "x", headers: { "content-type": "text/plain" } }],
    ];
    for (const [name, operation, request] of requests) {
      const [, problem] = await both(operation, request);
      expect(problem["type"]).toBe(`urn:work-items:problem:${name}`);
      expect(problem["title"]).toMatch(/^[A-Z]/);
    }
    const [, { errors }] = await both("createWorkItem", { body });
    expect(errors).toMatchObject([{ pointer: "/work_item/external_id", code: "taken" }]);
  });

  it("have a type for each kind of error, and no two kinds have the same", () => {
    const types = errorKinds.map(problemType);
    expect(new Set(types).size).toBe(types.length);
    for (const type of types) expect(type).toMatch(/^urn:work-items:problem:[a-z-]+$/);
  });

  it("bound what they repeat of the request", async () => {
    const body = { work_item: { external_id: "a", ["k".repeat(3 * 1024 ** 2)]: 1 } };
    const { text } = await service.call("createWorkItem", { body, headers: { Accept: PROBLEM_JSON } });
    expect(text.length).toBeLessThan(2000);
  });
});

describe("the header Accept", () => {
  it.each([PROBLEM_JSON, "application/json, Application/Problem+JSON;q=0.5", ` ${PROBLEM_JSON} ; q=1.0`])(
    "asks for problem details as %j",
    (accept) => {
      expect(acceptsProblemJson(accept)).toBe(true);
    },
  );

  it.each([undefined, "", "*/*", "application/*", "application/json", `${PROBLEM_JSON};q=0`, `${PROBLEM_JSON};q=0.0`])(
    "does not as %j",
    (accept) => {
      expect(acceptsProblemJson(accept)).toBe(false);
    },
  );
});
