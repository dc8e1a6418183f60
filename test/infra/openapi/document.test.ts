import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import committed from "../../../docs/openapi.json" with { type: "json" };
import { create } from "../../../functions/get-openapi-document.ts";
import { routes } from "../../../functions/routes.ts";
import { PROJECT_ROOT } from "../../../infra/build.ts";
import { clientTypesOf } from "../../../infra/openapi/client-types.ts";
import { createOpenApiDocument, type OpenApiDocument } from "../../../infra/openapi/document.ts";
import { workItemId } from "../../../lib/identity.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { apiEvent } from "../../support/organization.ts";
import { createTestRuntime } from "../../support/runtime.ts";

const document = createOpenApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe("docs/openapi.json", () => {
  it("is what npm run openapi writes, which refuses to break what was committed before", () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("has the types of the client made from it", () => {
    expect(readFileSync(join(PROJECT_ROOT, "apps/client/openapi-types.ts"), "utf8")).toBe(clientTypesOf(document));
  });

  it("has types of the client with one property a line, so that two changes of an object can be merged", () => {
    const lines = clientTypesOf(document).split("\n");
    const code = lines.filter((line) => !line.trimStart().startsWith("/**"));
    expect(code.filter((line) => [...line.matchAll(/\w"?\??: /g)].length > 1)).toEqual([]);
  });

  it("holds nothing of which generators of clients make code that does not compile", () => {
    const schemas: Record<string, unknown>[] = [];
    JSON.stringify(document, (_key, value: unknown) => {
      if (typeof value === "object" && value !== null) schemas.push(value as Record<string, unknown>);
      return value;
    });
    const enumerations = schemas.flatMap((schema) => (Array.isArray(schema["enum"]) ? [schema["enum"]] : []));
    // A value becomes a name.
    expect(enumerations.flat().filter((value) => !/\w/.test(String(value)))).toEqual([]);
    // Names of values, schemas and operations become names of the code. Those of values share one file in Go.
    const values = schemas.flatMap((schema) => (schema["x-enum-varnames"] ?? []) as readonly string[]);
    const operationIds = operations.map(({ operation }) => String(operation["operationId"]));
    const names = [...values, ...Object.keys(document.components.schemas), ...operationIds];
    expect(names.filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([]);
    expect(values).toContain("WEBHOOK_TYPE_WORK_ITEMS_CHANGED");
    // oapi-codegen leaves out schemas that only the webhooks name, and then uses them.
    const schemasIn = (part: unknown): string[] => JSON.stringify(part).match(/#\/components\/schemas\/\w+/g) ?? [];
    const { webhooks, ...rest } = document;
    expect(schemasIn(rest)).toEqual(expect.arrayContaining(schemasIn(webhooks)));
    expect(new Set(values).size).toBe(values.length);
    // Messages become calls of their group's class, which replaces one of the same name.
    const groups = new Set(operations.flatMap(({ operation }) => operation["tags"] as readonly string[]));
    const messages = Object.values(document.webhooks).flatMap((item) => Object.values(item as object)) as {
      tags: string[];
    }[];
    expect(messages.flatMap(({ tags }) => tags).filter((tag) => groups.has(tag))).toEqual([]);
    expect(messages.length).toBeGreaterThanOrEqual(4);
    // A UUID and a file become types that have no pattern and no length.
    const named = schemas.filter(({ format }) => format === "uuid" || format === "binary");
    expect(named.filter((schema) => "pattern" in schema || "maxLength" in schema)).toEqual([]);
    expect([enumerations.length, named.length].every((count) => count > 1)).toBe(true);
    // Alternatives become classes of their own, without the properties next to them.
    expect(schemas.filter((schema) => "properties" in schema && ("oneOf" in schema || "anyOf" in schema))).toEqual([]);
  });

  it("names the signs that a mapping may have, for TypeScript too", () => {
    const { "Column mapping": mapping } = Object.fromEntries(
      (
        document.components.schemas as { WorkItemUploadMapping: { anyOf: { title: string; properties: object }[] } }
      ).WorkItemUploadMapping.anyOf.map(({ title, properties }) => [title, properties]),
    );
    expect(mapping).toMatchObject({ delimiter: { pattern: String.raw`^[,;\t|]$` }, decimal: { pattern: "^[.,]$" } });
    expect(clientTypesOf(document)).toContain(String.raw`delimiter?: "," | ";" | "\t" | "|" | undefined;`);
  });

  it("has every route, by the name that the code uses, and nothing else", () => {
    const documented = operations.map(({ path, method, operation }) => [operation["operationId"], { method, path }]);
    const rows = Object.entries(routes).map(([name, { method, path }]) => [
      name,
      { method: method.toLowerCase(), path },
    ]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(rows));
    expect(documented).toHaveLength(rows.length);
  });

  it("needs a key except where the route is public", () => {
    for (const { operation } of operations) {
      const route = routes[operation["operationId"] as keyof typeof routes];
      expect([operation["operationId"], operation["security"]]).toEqual([
        operation["operationId"],
        "public" in route ? [] : undefined,
      ]);
    }
    expect(document.security).toEqual([{ apiKey: [] }]);
  });

  it("has examples that are real on a service that was just started", () => {
    const { parameters } = document.paths["/v1/work_items/{id}"]!["get"] as { parameters: { example: string }[] };
    const { requestBody } = document.paths["/v1/work_items"]!["post"] as unknown as {
      requestBody: { content: Record<string, { example: { work_item: { external_id: string } } }> };
    };
    const { external_id } = requestBody.content["application/json"]!.example.work_item;
    expect(parameters[0]?.example).toBe(workItemId("demo", external_id));
  });
});

describe("linters find nothing in it:", () => {
  it("Redocly, with all its recommended rules as errors", () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(PROJECT_ROOT, "node_modules/@redocly/cli/bin/cli.js"), "lint", "docs/openapi.json"],
      {
        cwd: PROJECT_ROOT,
        encoding: "utf8",
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      },
    );
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("Your API description is valid.")]);
    expect(stdout + stderr).not.toMatch(/warning/i);
  });
});

describe("GET /v1/openapi.json", () => {
  const serve = async (path: string, domainName: string, headers: Record<string, string> = {}) => {
    const handler = create(await createTestRuntime());
    const event = apiEvent({ resource: "/v1/openapi.json", headers });
    Object.assign(event.requestContext, { path, domainName });
    const { statusCode, body, headers: sent } = await handler(event, lambdaContext());
    return { statusCode, headers: sent, document: JSON.parse(body) as OpenApiDocument };
  };

  it.each([
    [
      "/dev/v1/openapi.json",
      "abc.execute-api.us-east-1.amazonaws.com",
      {},
      "https://abc.execute-api.us-east-1.amazonaws.com/dev",
    ],
    ["/v1/openapi.json", "us.api.example.com", { "X-Forwarded-Proto": "https" }, "https://us.api.example.com"],
    ["/v1/openapi.json/", "localhost:3000", { "X-Forwarded-Proto": "http" }, "http://localhost:3000"],
  ] as const)("at %s of %s needs no key and names its own address", async (path, host, headers, url) => {
    const { statusCode, document: served, headers: sent } = await serve(path, host, headers);
    expect(statusCode).toBe(200);
    expect(served).toEqual({ ...JSON.parse(JSON.stringify(document)), servers: [{ url }] });
    expect(sent).toMatchObject({ "cache-control": "public, max-age=300", etag: expect.stringMatching(/^"/) });
  });
});
