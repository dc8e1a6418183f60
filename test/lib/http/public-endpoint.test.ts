import { beforeAll, describe, expect, it } from "vitest";
import { create } from "../../../functions/reject-unknown-route.ts";
import { allServed } from "../../../functions/routes.ts";
import type { ApiHandler } from "../../../lib/http/middleware.ts";
import { methodsOf } from "../../../lib/http/route.ts";
import { call } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

let handler: ApiHandler;
beforeAll(async () => {
  handler = create(await createTestRuntime());
});

const served = allServed();
const resources = [...new Set(served.map(({ path }) => path))];

describe("reject-unknown-route", () => {
  it.each(resources)("responds with 405 to other methods of %s and names the allowed ones", async (resource) => {
    const methods = served.filter(({ path }) => path === resource).flatMap(methodsOf);
    for (const method of ["PUT", "TRACE", "OPTIONS"]) {
      const { status, headers, body } = await call(handler, { method, resource });
      expect(status).toBe(405);
      expect(headers["allow"]?.split(", ").toSorted()).toEqual(methods.toSorted());
      expect(Object.keys(body)).toEqual(["error"]);
      expect(headers).toMatchObject({ "content-type": "application/json" });
      expect(headers["x-request-id"]).toMatch(/./);
    }
  });

  it.each(["/{proxy+}", "/assets", "/v1"])(
    "responds with 404 to requests to %s, without requiring a key",
    async (resource) => {
      for (const method of ["GET", "POST"]) {
        const { status, headers, text } = await call(handler, { method, resource, path: "/v1/nothing" });
        expect({ status, text }).toEqual({ status: 404, text: '{"error":"no such path"}' });
        expect(headers["x-request-id"]).toMatch(/./);
      }
    },
  );
});
