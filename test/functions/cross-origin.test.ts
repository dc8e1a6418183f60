import { beforeAll, describe, expect, it } from "vitest";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { create as createRejectUnknownRoute } from "../../functions/reject-unknown-route.ts";
import { EXPOSED_HEADERS } from "../../lib/http/response.ts";
import { call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

const [app, admin] = ["https://app.example.com", "http://localhost:5173"];
const resource = "/v1/work_items/{id}";
const ask = { origin: app, "access-control-request-method": "PATCH" };

let runtime: TestRuntime;
let closed: TestRuntime;
beforeAll(async () => {
  runtime = await createTestRuntime({ variables: { ALLOWED_ORIGINS: `${app},${admin}` } });
  closed = await createTestRuntime();
});

const corsOf = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")));

describe("pages of other origins", () => {
  it.each([app, admin])("of %s may read responses and errors, and the headers that callers need", async (origin) => {
    const { key } = await createTestOrganization(runtime);
    const handler = createGetWorkItem(runtime);
    for (const known of [key, undefined]) {
      const { headers } = await call(handler, { resource, params: { id: "none" }, key: known, headers: { origin } });
      expect(corsOf(headers)).toEqual({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": EXPOSED_HEADERS,
      });
      expect(headers["vary"]).toMatch(/\bOrigin\b/);
    }
  });

  it.each(["https://evil.example", "https://app.example.com.evil.example", "null", "https://app.example.com:8443"])(
    "of %s may not",
    async (origin) => {
      const { headers } = await call(createGetWorkItem(runtime), { resource, headers: { origin } });
      expect(corsOf(headers)).toEqual({});
      const preflight = { method: "OPTIONS", resource, headers: { ...ask, origin } };
      const { status, headers: refused } = await call(createRejectUnknownRoute(runtime), preflight);
      expect([status, corsOf(refused)]).toEqual([405, {}]);
    },
  );

  it("ask first, and learn the methods of the path and the headers that they may send", async () => {
    const { status, text, headers } = await call(createRejectUnknownRoute(runtime), {
      method: "OPTIONS",
      resource,
      headers: ask,
    });
    expect([status, text]).toEqual([204, ""]);
    expect(headers["access-control-allow-origin"]).toBe(app);
    expect(headers["access-control-allow-methods"]?.split(", ").toSorted()).toEqual(["DELETE", "GET", "HEAD", "PATCH"]);
    for (const name of ["Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match"]) {
      expect(headers["access-control-allow-headers"]?.split(", ")).toContain(name);
    }
  });

  it("can read errors for unknown paths, and for OPTIONS that isn't a preflight", async () => {
    const handler = createRejectUnknownRoute(runtime);
    const unknown = await call(handler, { method: "OPTIONS", resource: "/{proxy+}", headers: ask });
    expect([unknown.status, unknown.headers["access-control-allow-origin"]]).toEqual([404, app]);
    expect((await call(handler, { method: "OPTIONS", resource, headers: { origin: app } })).status).toBe(405);
  });

  it("are not allowed where no origin is named", async () => {
    const { status, headers } = await call(createRejectUnknownRoute(closed), {
      method: "OPTIONS",
      resource,
      headers: ask,
    });
    expect([status, corsOf(headers)]).toEqual([405, {}]);
    expect(headers["vary"]).not.toMatch(/Origin/);
  });
});
