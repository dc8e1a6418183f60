import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { isObject, type Json } from "../../../infra/openapi/schema-form.ts";
import { closedDocument, differencesFrom, resolved } from "./document-schemas.ts";

/** Headers that are not about the endpoint: HTTP's own, and those that pages of other origins get. */
const HEADERS_OF_ALL = /^(content-type|cache-control|vary|access-control-.*)$/;

const headersOf = ({ headers = {} }: APIGatewayProxyResult): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));

const parsed = (text: string, schema: Json): unknown => (schema["type"] === "integer" ? Number(text) : text);

const headerProblems = (path: readonly string[], headers: Readonly<Record<string, string>>): string[] => {
  const { value } = resolved([...path, "headers"]);
  const documented = new Map(
    Object.keys(value).map((name) => [name.toLowerCase(), resolved([...path, "headers", name])]),
  );
  return [
    ...Object.keys(headers)
      .filter((name) => !documented.has(name) && !HEADERS_OF_ALL.test(name))
      .map((name) => `the header ${name} is not documented`),
    ...[...documented].flatMap(([name, header]) => {
      const sent = headers[name];
      if (sent === undefined) return header.value["required"] === true ? [`the header ${name} is missing`] : [];
      const schema = resolved([...header.path, "schema"]);
      return differencesFrom(schema.path, parsed(sent, schema.value)).map((problem) => `header ${name}: ${problem}`);
    }),
  ];
};

const bodyProblems = (
  path: readonly string[],
  { body }: APIGatewayProxyResult,
  { "content-type": sent = "" }: Readonly<Record<string, string>>,
  isHead: boolean,
): string[] => {
  const { value: contents } = resolved([...path, "content"]);
  if (Object.keys(contents).length === 0) return body === "" ? [] : ["there is a body where none is documented"];
  const [type = ""] = sent.split(";");
  if (!Object.hasOwn(contents, type)) return [`the content type ${sent} is not documented`];
  if (isHead) return body === "" ? [] : ["a response to HEAD has a body"];
  const value: unknown = type.endsWith("json") ? JSON.parse(body) : body;
  return differencesFrom([...path, "content", type, "schema"], value).map((problem) => `body${problem}`);
};

/** The key of the operation that an event is for, in its path of the document; undefined if none is documented. */
const operationOf = ({ httpMethod, resource }: Pick<APIGatewayProxyEvent, "httpMethod" | "resource">) => {
  const method = httpMethod === "HEAD" ? "get" : httpMethod.toLowerCase();
  return isObject(closedDocument.paths[resource]?.[method]) ? method : undefined;
};

/** Where a response differs from the document: its status, headers, content type and body. */
const contradictions = (event: APIGatewayProxyEvent, result: APIGatewayProxyResult): string[] => {
  const method = operationOf(event);
  if (method === undefined) return [];
  const responses = ["paths", event.resource, method, "responses"];
  const status = String(result.statusCode);
  if (!Object.hasOwn(resolved(responses).value, status)) return [`the status ${status} is not documented`];
  const { path } = resolved([...responses, status]);
  const headers = headersOf(result);
  return [...headerProblems(path, headers), ...bodyProblems(path, result, headers, event.httpMethod === "HEAD")];
};

/** @returns the result @throws Error if a response differs from the document */
export const asDocumented = (event: APIGatewayProxyEvent, result: APIGatewayProxyResult): APIGatewayProxyResult => {
  const problems = contradictions(event, result);
  if (problems.length === 0) return result;
  const shown = `${event.httpMethod} ${event.resource} ${result.statusCode} ${result.body.slice(0, 500)}`;
  throw new Error(`docs/openapi.json does not say so: ${problems.join("; ")}\n${shown}`);
};
