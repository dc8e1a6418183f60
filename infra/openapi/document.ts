import { createDocument, type ZodOpenApiPathsObject } from "zod-openapi";
import * as z from "zod";
import { routes } from "../../functions/routes.ts";
import { examples } from "../../functions/routes/examples.ts";
import { BODY_MAX_BYTES } from "../../lib/http/request-body.ts";
import type { Operation, Route } from "../../lib/http/route.ts";
import { scopesOfAct } from "../../lib/http/scopes.ts";
import { uuid } from "../../lib/schema.ts";
import manifest from "../../package.json" with { type: "json" };
import { withAlternatives } from "./alternatives.ts";
import { describe, describeParameters } from "./describe.ts";
import { errorComponents, errorSchemas, errorsOf, type ErrorStatus } from "./error-responses.ts";
import { headersOf, LIMIT_HEADERS, REQUEST_HEADERS, RESPONSE_HEADERS, type ResponseHeader } from "./headers.ts";
import { operations, TAGS } from "./operations.ts";
import { type Json, open, readable, referencedSchemas } from "./schema-form.ts";
import { webhookItems } from "./webhook-items.ts";

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly security: readonly Json[];
  readonly tags: readonly Json[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly webhooks: Readonly<Record<string, Json>>;
  readonly components: Readonly<Record<"schemas" | "responses" | "headers" | "parameters" | "securitySchemes", Json>>;
}

type RouteName = keyof typeof routes;
const entries = Object.entries(routes) as [RouteName, Route][];

const INFO: Json = {
  title: "Work items",
  version: manifest.version,
  summary: "Work item ingestion and retrieval.",
  description:
    "Organizations send work items, units of work done by agents with the events of a source system: one at a time, " +
    "in batches by their own `external_id`, or as CSV files. They read them back one at a time or in lists.\n\n" +
    "Every endpoint that has GET has HEAD too. Bodies may be sent with `Content-Encoding: gzip`; responses are " +
    "compressed for clients that prefer gzip or deflate. What is marked as an extension goes beyond version 1.0.0 of " +
    "the interface.",
  contact: { name: "Work items" },
  license: { name: "Apache 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
};

/** `getWorkItem` as `GetWorkItem`. */
function capitalized(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

const FILE_PART = "upload[file]";
const JSON_TYPE = "application/json";

/** The form with a file and with the route's fields, of which `mapping` is the part `upload[mapping]`. */
function fileForm(fields: Json): Json {
  const { upload } = fields["properties"] as { readonly upload: { readonly properties: Record<string, Json> } };
  const parts = Object.entries(upload.properties).map(([key, schema]): [string, Json] => [`upload[${key}]`, schema]);
  return {
    schema: {
      type: "object",
      required: [FILE_PART],
      properties: {
        [FILE_PART]: {
          type: "string",
          format: "binary",
          // No maxLength: it counts characters, and generators would check it like that of a text.
          description: `The CSV file, with a filename. The whole body is at most ${BODY_MAX_BYTES / 1024 ** 2} MiB.`,
        },
        ...Object.fromEntries(parts),
      },
      additionalProperties: false,
    },
    encoding: {
      ...Object.fromEntries(
        parts.filter(([, { type }]) => type !== "boolean").map(([name]) => [name, { contentType: JSON_TYPE }]),
      ),
      [FILE_PART]: { contentType: "text/csv" },
    },
    examples: {
      items: { summary: "Two items", value: { [FILE_PART]: examples.csv } },
      tickets: {
        summary: "Another system's file",
        value: { "upload[mapping]": examples.mapping, [FILE_PART]: examples.ticketsCsv },
      },
    },
  };
}

/** The successful responses of an endpoint: status and description. */
function successesOf(name: RouteName, { status }: Route): [string, string][] {
  return Object.entries({ ...operations[name].otherResponses, [status]: operations[name].response });
}

/** The operation of a route with its schemas, which are components under the names that clients see. */
function schemasOf([name, route]: [RouteName, Route]) {
  const response = route.response.meta({ id: `${capitalized(name)}ResponseBody` });
  return {
    operationId: name,
    requestParams: {
      ...(route.path.includes("{id}") && {
        path: z.strictObject({
          id: uuid.describe("ID from a response or a list."),
          ...(route.path.includes("{event_id}") && { event_id: uuid.describe("ID of the event, from a response.") }),
        }),
      }),
      query: route.query as z.ZodObject,
    },
    ...(route.bodyKind !== "none" && {
      requestBody: {
        required: route.bodyKind !== "optional-json",
        content: {
          [JSON_TYPE]: { schema: route.body.meta({ id: `${capitalized(name)}Request` }) },
          ...(route.fields && { "multipart/form-data": { schema: route.fields } }),
        },
      },
    }),
    responses: Object.fromEntries(
      successesOf(name, route).map(([status, description]) => [
        status,
        { description, content: { [route.contentType ?? JSON_TYPE]: { schema: response } } },
      ]),
    ),
  };
}

/** The errors of an endpoint, in order. */
function errorStatusesOf(route: Route, { errors = [] }: Operation): ErrorStatus[] {
  return [
    400,
    422,
    500,
    503,
    ...(route.public === true ? [] : ([401, 429] as const)),
    ...((route.scopes ?? []).length === 0 ? [] : ([403] as const)),
    ...(route.path.includes("{id}") ? ([404] as const) : []),
    ...(route.bodyKind === "none" ? [] : ([413, 415] as const)),
    ...errors,
  ];
}

function named(scopes: readonly string[]): string {
  return `the ${scopes.length > 1 ? "scopes" : "scope"} ${scopes.map((scope) => `\`${scope}\``).join(" and ")}`;
}

/** The scopes that an endpoint needs, in a sentence. */
function scopesIn(route: Route): string {
  const { scopes = [], acts = [] } = route;
  if (scopes.length === 0) return "";
  const asked = acts.map((act) => `\`${act}\``).join(" or ");
  const ofActs = asked === "" ? "" : `; with ${asked}, ${named(scopesOfAct(route))}`;
  return `\n\nNeeds ${named(scopes)}${ofActs}.`;
}

function withExample(content: unknown, example: object | string, type = JSON_TYPE): Json {
  return {
    [type]: { ...(content as Record<string, Json>)[type], example },
  };
}

/** Adds everything but the schemas to an operation. */
function complete(name: RouteName, route: Route, made: Json): Json {
  const operation = operations[name];
  const { parameters = [], requestBody, responses } = made as { parameters?: Json[]; [key: string]: unknown };
  const isRead = route.method === "GET";
  const requestHeaders = [...(operation.requestHeaders ?? []), ...(isRead ? (["If-None-Match"] as const) : [])];
  const metered: readonly ResponseHeader[] = route.public === true ? [] : LIMIT_HEADERS;
  const { example, headers = [], links } = operation;
  const names = new Set<ResponseHeader>([...metered, ...headers, ...(isRead ? (["ETag"] as const) : [])]);
  const success = Object.entries(responses as Record<string, Json>).map(([status, response]) => [
    status,
    {
      ...response,
      headers: headersOf(...names),
      content: withExample(response["content"], example, route.contentType),
      ...(links && { links }),
    },
  ]);
  const notModified = isRead && {
    304: {
      description: "The representation still has an entity tag in `If-None-Match`. There is no body.",
      headers: headersOf("ETag", ...metered, ...headers),
    },
  };
  const body = requestBody as { readonly content: Record<string, { readonly schema: Json }> } | undefined;
  const form = body?.content["multipart/form-data"];
  return {
    operationId: name,
    tags: [operation.tag],
    summary: route.summary,
    description: `${operation.description}${scopesIn(route)}${route.extension === true ? "\n\nExtension." : ""}`,
    ...(route.public === true && { security: [] }),
    parameters: [
      ...describeParameters(parameters, operation.id),
      ...requestHeaders.map((header) => ({ $ref: `#/components/parameters/${header}` })),
    ],
    ...(body && {
      requestBody: {
        required: route.bodyKind !== "optional-json",
        content: {
          ...(form && { "multipart/form-data": fileForm(form.schema) }),
          ...withExample(body.content, operation.body ?? {}),
        },
      },
    }),
    responses: {
      ...Object.fromEntries(success),
      ...notModified,
      ...errorsOf(...errorStatusesOf(route, operation)),
    },
  };
}

/** Enumerations that won't get further values in this version of the interface. */
const FIXED = new Set(["WorkItemStatus"]);

/** Names of the schemas that only responses use. */
function responseSchemasOf(paths: OpenApiDocument["paths"], schemas: Json): ReadonlySet<string> {
  const all = Object.values(paths).flatMap((methods) => Object.values(methods));
  const inRequests = referencedSchemas(
    all.map(({ parameters, requestBody }) => [parameters, requestBody]),
    schemas,
  );
  return new Set(Object.keys(schemas).filter((name) => !inRequests.has(name)));
}

/**
 * Makes the OpenAPI document of all routes.
 * @param options.closed whether responses may have only the keys and values that this version sends
 */
export function createOpenApiDocument({ closed = false }: { readonly closed?: boolean } = {}): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const entry of entries) {
    const [, { path, method }] = entry;
    paths[path] = { ...paths[path], [method.toLowerCase()]: schemasOf(entry) };
  }
  const components = { schemas: errorSchemas };
  const made = readable(
    createDocument(
      { openapi: "3.1.1", info: { title: "", version: "" }, paths, webhooks: webhookItems, components },
      { allowEmptySchema: { custom: true } },
    ),
  ) as OpenApiDocument;

  const completed: Record<string, Record<string, Json>> = {};
  for (const [name, route] of entries) {
    const method = route.method.toLowerCase();
    completed[route.path] ??= {};
    completed[route.path]![method] = complete(name, route, made.paths[route.path]?.[method] ?? {});
  }
  const schemas = withAlternatives(describe(made.components.schemas));
  const inResponses = responseSchemasOf(completed, schemas);
  const ofRequests = Object.fromEntries(
    Object.entries(schemas as Record<string, Json>).filter(
      ([name, schema]) => !inResponses.has(name) && !FIXED.has(name) && schema["enum"] !== undefined,
    ),
  );
  return {
    openapi: "3.1.1",
    info: INFO,
    servers: [
      {
        url: "{base_url}",
        description: "Each region has its own.",
        variables: {
          base_url: {
            default: "http://localhost:3000",
            description: "Address of the deployment; by default that of `npm start`.",
          },
        },
      },
    ],
    security: [{ apiKey: [] }],
    tags: TAGS,
    paths: completed,
    webhooks: made.webhooks,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, schema]) => [name, closed || !inResponses.has(name) ? schema : open(schema, ofRequests)]),
      ),
      responses: errorComponents(),
      headers: RESPONSE_HEADERS,
      parameters: REQUEST_HEADERS,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "wi_<region>_<38 letters and digits>",
          description: "An API key of the organization. It belongs on a server, not in a web page.",
        },
      },
    },
  };
}
