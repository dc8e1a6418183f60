import type { APIGatewayProxyEvent } from "aws-lambda";

/** Headers by lower-case name; the values of a repeated header are joined by commas (RFC 9110 §5.3). */
export function readHeaders({
  headers,
  multiValueHeaders,
}: Pick<APIGatewayProxyEvent, "headers" | "multiValueHeaders">): Record<string, string | undefined> {
  const read: Record<string, string | undefined> = Object.create(null);
  for (const [name, value] of Object.entries(headers ?? {})) read[name.toLowerCase()] = value;
  for (const [name, values] of Object.entries(multiValueHeaders ?? {})) {
    if (values?.length) read[name.toLowerCase()] = values.join(", ");
  }
  return read;
}

/** Query parameters by name, and the names of those that occur more than once. */
export function readQuery({
  queryStringParameters,
  multiValueQueryStringParameters,
}: Pick<APIGatewayProxyEvent, "queryStringParameters" | "multiValueQueryStringParameters">) {
  const single = Object.entries(queryStringParameters ?? {});
  const multiple = Object.entries(multiValueQueryStringParameters ?? {});
  return {
    parameters: Object.fromEntries([...single, ...multiple.map(([name, values]) => [name, values?.at(-1)] as const)]),
    repeated: multiple.filter(([, values]) => (values?.length ?? 0) > 1).map(([name]) => name),
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id in the path: a UUID in lower case (RFC 9562 §4). Anything else becomes "", which no resource has. */
export function readId({ pathParameters }: Pick<APIGatewayProxyEvent, "pathParameters">): string {
  const id = (pathParameters?.["id"] ?? "").toLowerCase();
  return UUID.test(id) ? id : "";
}
