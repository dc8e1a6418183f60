import * as z from "zod";
import { route, routesOf } from "../../lib/http/route.ts";
import { keyScopeSchema } from "../../lib/organizations/api-key.ts";

/** Endpoints of the service itself. */
export const serviceRoutes = routesOf({
  getMe: () =>
    route({
      method: "GET",
      path: "/v1/me",
      summary: "Get the organization and the scopes of the API key",
      scopes: [],
      response: z.strictObject({
        data: z
          .strictObject({
            organization: z.string().describe("ID of the organization that owns the key."),
            region: z.string().describe("Region of the service."),
            key: z
              .strictObject({
                id: z.string().describe("ID of the key, which isn't secret."),
                name: z.string().describe("Name that the key was given."),
                scopes: z.array(keyScopeSchema).describe("What the key may do."),
              })
              .describe("The API key of this call."),
            limits: z
              .strictObject({
                rate: z.int().describe("Requests per second."),
                burst: z.int().describe("Requests at once."),
              })
              .describe("The organization's rate limit, which all of its keys share."),
          })
          .describe("The result."),
      }),
      extension: true,
      document: () => ({
        description:
          "Use it to test a connection: it works with every valid key, whatever its scopes, and reads no data.",
        response: "The organization, the key and its scopes.",
        example: {
          data: {
            organization: "demo",
            region: "us",
            key: { id: "5f1d2c3b4a59", name: "nightly sync", scopes: ["read", "write"] },
            limits: { rate: 100, burst: 200 },
          },
        },
      }),
    }),
  getHealth: () =>
    route({
      public: true,
      method: "GET",
      path: "/v1/health",
      summary: "Check service health",
      response: z.strictObject({
        status: z.literal("ok").describe("Always `ok`."),
        region: z.string().describe("Region of the service."),
        version: z.string().describe("Version of the service."),
      }),
      extension: true,
      permissions: { workItems: { actions: ["GetItem"], partitions: ["HEALTH"] } },
      document: () => ({
        description: "Returns 503 while the database can't be read.",
        response: "The service works.",
        example: { status: "ok", region: "us", version: "1.0.0" },
      }),
    }),
  getOpenapiDocument: () =>
    route({
      public: true,
      method: "GET",
      path: "/v1/openapi.json",
      summary: "Get the OpenAPI document",
      response: z.looseObject({ openapi: z.string().describe("Version of OpenAPI.") }),
      extension: true,
      document: () => ({
        description: "This document. Its server is the address at which you request it.",
        response: "An OpenAPI 3.1 document.",
        example: { openapi: "3.1.1" },
      }),
    }),
});
