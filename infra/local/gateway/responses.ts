import * as z from "zod";
import { acceptsProblemJson, PROBLEM_JSON } from "../../../lib/http/error-table.ts";
import type { HttpResponse } from "./proxy-event.ts";
import type { ResolvedTemplate } from "../template.ts";

/**
 * Types of the responses that the gateway sends itself, with the status where the template sets none
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html).
 */
const STATUS = {
  BAD_REQUEST_PARAMETERS: 400,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  API_CONFIGURATION_ERROR: 500,
  INTEGRATION_TIMEOUT: 504,
} as const;
/** A type of gateway response. */
type GatewayResponseType = keyof typeof STATUS;

const responseSchema = z.object({
  ResponseType: z.string(),
  StatusCode: z.coerce.number().optional(),
  ResponseParameters: z.record(z.string(), z.string()).default({}),
  ResponseTemplates: z.record(z.string(), z.string()).default({}),
});
type ResponseTemplate = z.output<typeof responseSchema>;

const HEADER = "gatewayresponse.header.";

function headersOf({ ResponseParameters }: ResponseTemplate, requestId: string): (readonly [string, string])[] {
  return Object.entries(ResponseParameters)
    .filter(([target]) => target.startsWith(HEADER))
    .map(([target, source]) => [
      target.slice(HEADER.length),
      source === "context.requestId" ? requestId : source.replaceAll(/^'|'$/g, ""),
    ]);
}

/** What a response depends on beside its type. */
interface Responded {
  readonly requestId: string;
  /** The request's `Accept` header. */
  readonly accept: string | undefined;
}

/** Makes the gateway's own response of a type. */
export type GatewayResponses = (type: GatewayResponseType, to: Responded) => HttpResponse;

/** The body in the media type that the caller accepts, with the variables that templates have. */
function bodyOf({ ResponseTemplates: templates }: ResponseTemplate, { accept, requestId }: Responded) {
  const problem = acceptsProblemJson(accept) ? templates[PROBLEM_JSON] : undefined;
  const text = (problem ?? templates["application/json"] ?? "").replaceAll("$context.requestId", requestId);
  return { mediaType: problem === undefined ? "application/json" : PROBLEM_JSON, body: Buffer.from(text) };
}

/** The gateway's own responses by the template; a type that it does not define uses DEFAULT_4XX or DEFAULT_5XX. */
export function gatewayResponses(template: ResolvedTemplate): GatewayResponses {
  const byType = new Map(
    [...template.resourcesOf("AWS::ApiGateway::GatewayResponse", responseSchema).values()].map((response) => [
      response.ResponseType,
      response,
    ]),
  );
  return (type, to) => {
    const status = STATUS[type];
    const found = byType.get(type) ?? byType.get(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX");
    if (found === undefined) {
      return { status, headers: [["Content-Type", "application/json"]], body: Buffer.from(`{"message":"${type}"}`) };
    }
    const { mediaType, body } = bodyOf(found, to);
    return {
      status: found.StatusCode ?? status,
      headers: [["Content-Type", mediaType], ...headersOf(found, to.requestId)],
      body,
    };
  };
}
