import { type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { startGateway } from "../../../../infra/local/gateway/gateway.ts";
import { type Resource, ResolvedTemplate } from "../../../../infra/local/template.ts";
import { fakeFunction } from "../fake-function.ts";

const uri = (functionName: string) => ({
  "Fn::Join": [
    "",
    [
      "arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/",
      { "Fn::GetAtt": [functionName, "Arn"] },
      "/invocations",
    ],
  ],
});
const lambda = (FunctionName: string): Resource => ({ Type: "AWS::Lambda::Function", Properties: { FunctionName } });
const resource = (PathPart: string, parent?: string): Resource => ({
  Type: "AWS::ApiGateway::Resource",
  Properties: {
    PathPart,
    ParentId: parent === undefined ? { "Fn::GetAtt": ["Api", "RootResourceId"] } : { Ref: parent },
  },
});
const method = (HttpMethod: string, id: string, functionName: string): Resource => ({
  Type: "AWS::ApiGateway::Method",
  Properties: { HttpMethod, ResourceId: { Ref: id }, Integration: { Type: "AWS_PROXY", Uri: uri(functionName) } },
});
const gatewayResponse = (ResponseType: string, StatusCode: string, error: string, more = {}): Resource => ({
  Type: "AWS::ApiGateway::GatewayResponse",
  Properties: {
    ResponseType,
    StatusCode,
    ResponseParameters: {
      "gatewayresponse.header.x-request-id": "context.requestId",
      "gatewayresponse.header.Retry-After": "'1'",
    },
    ResponseTemplates: { "application/json": JSON.stringify({ error }), ...more },
  },
});

/** An API of a few methods, with the responses of the gateway that tests look at. */
export const template = new ResolvedTemplate({
  stackName: "Tiny",
  region: "us-east-1",
  sqsEndpoint: "http://127.0.0.1:1",
  template: {
    Resources: {
      Api: {
        Type: "AWS::ApiGateway::RestApi",
        Properties: { BinaryMediaTypes: ["multipart/form-data"], MinimumCompressionSize: 100 },
      },
      Stage: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "dev" } },
      Echo: lambda("echo"),
      Batch: lambda("batch"),
      Reject: lambda("reject"),
      Items: resource("items"),
      BatchOfItems: resource("batch", "Items"),
      Item: resource("{id}", "Items"),
      Events: resource("events", "Item"),
      Bare: resource("bare"),
      Proxy: resource("{proxy+}"),
      GetItem: method("GET", "Item", "Echo"),
      HeadItem: method("HEAD", "Item", "Echo"),
      PostItems: method("POST", "Items", "Echo"),
      AnyItem: method("ANY", "Item", "Reject"),
      AnyItems: method("ANY", "Items", "Reject"),
      PostBatch: method("POST", "BatchOfItems", "Batch"),
      GetEvents: method("GET", "Events", "Echo"),
      AnyProxy: method("ANY", "Proxy", "Reject"),
      TooLarge: gatewayResponse("REQUEST_TOO_LARGE", "413", "Request body too large"),
      Unsupported: gatewayResponse("UNSUPPORTED_MEDIA_TYPE", "415", "Unsupported"),
      NotFound: gatewayResponse("MISSING_AUTHENTICATION_TOKEN", "404", "Not found"),
      Malformed: gatewayResponse("DEFAULT_4XX", "400", "Bad request", {
        "application/problem+json": JSON.stringify({ instance: "$context.requestId", error: "Bad request" }),
      }),
      Broken: gatewayResponse("DEFAULT_5XX", "500", "Internal error"),
    },
  },
});

/** Responds with the event that it got. */
export const echoed = (event: APIGatewayProxyEvent) => ({ statusCode: 200, body: JSON.stringify(event) });
/** Starts a gateway for the template. @param handler the function behind the items' methods */
export const start = (handler: (event: APIGatewayProxyEvent) => unknown = echoed) =>
  startGateway({
    template,
    port: 0,
    functions: new Map([
      ["echo", fakeFunction("echo", handler)],
      ["batch", fakeFunction("batch", () => ({ statusCode: 200, body: '"batch"' }))],
      [
        "reject",
        fakeFunction("reject", ({ resource: path }: APIGatewayProxyEvent) => ({
          statusCode: 405,
          body: JSON.stringify(path),
        })),
      ],
    ]),
  });

/** Sends a request by Node's HTTP client, so that path and header names are not changed. */
export const sendTo = async (
  base: string,
  path: string,
  options: { method?: string; headers?: string[]; body?: Buffer } = {},
) => {
  const { host, port } = new URL(base);
  const sent = httpRequest({
    host: host.split(":")[0],
    port,
    path,
    method: options.method ?? "GET",
    headers: options.headers ?? ["Host", host],
  });
  const received = new Promise<Awaited<ReturnType<typeof read>>>((resolve, reject) => {
    sent.once("response", (response) => void read(response).then(resolve)).once("error", reject);
  });
  sent.end(options.body);
  return received;
};
const read = async (response: IncomingMessage) => ({
  status: response.statusCode,
  headers: response.headers,
  body: await buffer(response),
});
