import type { APIGatewayProxyEvent } from "aws-lambda";
import { readHeaders } from "./request.ts";

/**
 * The address of the service as the caller sees it, without a trailing slash. It may have a path: the gateway's stage,
 * or the base path of a custom domain name.
 * @param path of the route that was requested
 * @returns undefined if the event doesn't contain it, like a sample event
 */
export function addressOf(event: APIGatewayProxyEvent, path: string): string | undefined {
  const { domainName, path: requested } = event.requestContext;
  if (domainName === undefined || requested === undefined) return undefined;
  const protocol = readHeaders(event)["x-forwarded-proto"] ?? "https";
  const below = requested.replace(/\/$/, "");
  if (!below.endsWith(path)) return undefined;
  return `${protocol}://${domainName}${below.slice(0, -path.length)}`;
}

/**
 * The relative way from the requested path to the service's root, so that links work below any prefix, such as the
 * stage's name: `../../` for `/v1/work_items/{id}`.
 */
export function wayToRoot({ resource, path, pathParameters }: APIGatewayProxyEvent): string {
  const requested = resource.replaceAll(/\{(\w+)\+\}/g, (_, name: string) => pathParameters?.[name] ?? "");
  const levels = requested.split("/").length - 2 + (path.length > 1 && path.endsWith("/") ? 1 : 0);
  return levels <= 0 ? "./" : "../".repeat(levels);
}
