import * as z from "zod";
import { route } from "../../lib/http/route.ts";

/** Endpoints of the service itself. */
export const serviceRoutes = {
  getHealth: () =>
    route({
      public: true,
      name: "get-health",
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
      name: "get-openapi-document",
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
};
