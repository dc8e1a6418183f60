import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { GATEWAY_RESPONSES, gatewayHeaders, type GatewayResponseType, gatewayTemplates } from "../gateway-responses.ts";

/** A header value that is the same in every response. */
function fixed(value: string): string {
  return `'${value}'`;
}

/** Adds a response for every gateway response type, with the request id in a header. */
export function addGatewayResponses(api: RestApi, allowedOrigins: readonly string[]): void {
  for (const type of Object.keys(GATEWAY_RESPONSES) as GatewayResponseType[]) {
    const { statusCode } = GATEWAY_RESPONSES[type];
    const headers = Object.entries(gatewayHeaders(type, allowedOrigins));
    api.addGatewayResponse(`Response${type}`, {
      type: ResponseType.of(type),
      ...(statusCode !== undefined && { statusCode }),
      responseHeaders: {
        "x-request-id": "context.requestId",
        ...Object.fromEntries(headers.map(([name, value]) => [name, fixed(value)])),
      },
      templates: gatewayTemplates(type),
    });
  }
}
