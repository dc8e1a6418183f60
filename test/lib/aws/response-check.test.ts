import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BatchExecuteStatementCommand, BatchGetItemCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { GetCommand, PutCommand, QueryCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { outcomeOfError } from "../../../lib/store/write-outcome.ts";
import { isUnavailable } from "../../../lib/aws/error-codes.ts";
import { createDynamoDbClient } from "../../../lib/aws/dynamodb-client.ts";
import { createS3Client } from "../../../lib/aws/s3-client.ts";
import { createSqsClient } from "../../../lib/aws/sqs-client.ts";
import { createUploadObjects } from "../../../lib/uploads/files/upload-objects.ts";

const HTML = "<html><body><b>Http/1.1 Service Unavailable</b></body></html>";
const JSON_TYPE = { "content-type": "application/x-amz-json-1.0" };
type Answer = (response: ServerResponse) => void;

const answerOf =
  (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
/** Announces more bytes than it sends, and closes the connection. */
const closedInside =
  (status: number): Answer =>
  (response) => {
    response.writeHead(status, { ...JSON_TYPE, "content-length": "100" });
    response.write('{"Item":{"pk":', () => response.destroy());
  };

/** Responses that no API of AWS gives. */
const FOREIGN: Readonly<Record<string, Answer>> = {
  ...Object.fromEntries(
    [200, 400, 403, 404, 500, 502, 503, 504].flatMap((status) => [
      [`${status} with HTML`, answerOf(status, HTML, { "content-type": "text/html" })],
      [`${status} without a body`, answerOf(status, "")],
      [`${status} cut off`, answerOf(status, '{"Item":{"pk":{"S":"a')],
      [`${status} closed inside the body`, closedInside(status)],
    ]),
  ),
  "200 with null": answerOf(200, "null"),
  "200 with another object": answerOf(200, '{"message":"ok"}'),
  "403 without a code": answerOf(403, '{"message":"Forbidden"}'),
  "200 with a wrong checksum": answerOf(200, '{"Item":{},"Responses":{},"Count":0}', {
    ...JSON_TYPE,
    "x-amz-crc32": "1",
  }),
};

let answer: Answer;
const server = createServer((request, response) => {
  request.resume().once("end", () => answer(response));
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const service of ["DYNAMODB", "S3", "SQS"]) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, url);
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

const Key = { pk: "a", sk: "b" };
const dynamodb = () => createDynamoDbClient();
const s3 = () => createS3Client({ S3_FORCE_PATH_STYLE: true });
const sqs = () => createSqsClient();
const object = { Bucket: "b", Key: "k" };
const entry = { Id: "1", MessageBody: "x" };

const requests = {
  GetItem: () => dynamodb().send(new GetCommand({ TableName: "t", Key })),
  BatchGetItem: () => dynamodb().send(new BatchGetItemCommand({ RequestItems: { t: { Keys: [{ pk: { S: "a" } }] } } })),
  Query: () => dynamodb().send(new QueryCommand({ TableName: "t", KeyConditionExpression: "pk = :a" })),
  PutItem: () => dynamodb().send(new PutCommand({ TableName: "t", Item: Key })),
  UpdateItem: () => dynamodb().send(new UpdateCommand({ TableName: "t", Key, ReturnValues: "ALL_NEW" })),
  BatchExecuteStatement: () => dynamodb().send(new BatchExecuteStatementCommand({ Statements: [{ Statement: "x" }] })),
  SendMessage: () => sqs().send(new SendMessageCommand({ QueueUrl: "http://q/1/q", MessageBody: "x" })),
  SendMessageBatch: () => sqs().send(new SendMessageBatchCommand({ QueueUrl: "http://q/1/q", Entries: [entry] })),
  HeadObject: () => s3().send(new HeadObjectCommand(object)),
  GetObject: () => s3().send(new GetObjectCommand(object)),
  PutObject: () => s3().send(new PutObjectCommand({ ...object, Body: Buffer.from("x") })),
};

describe.each(Object.entries(requests))("%s", (_name, send) => {
  it.each(Object.entries(FOREIGN))("has an unknown outcome, and no other, after %s", async (_response, foreign) => {
    answer = foreign;
    const error: unknown = await send().then(
      (output) => output,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(isUnavailable(error)).toBe(true);
    expect(outcomeOfError(error).kind).toBe("unknown");
  });
});

describe("DynamoDB's own responses", () => {
  it("are a missing item, and a refusal that was not carried out", async () => {
    answer = answerOf(200, "{}");
    expect((await requests.GetItem()).Item).toBeUndefined();
    answer = answerOf(400, '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"x"}');
    const error = await requests.PutItem().catch((thrown: unknown) => thrown);
    expect(outcomeOfError(error)).toEqual({ kind: "outage", code: "ResourceNotFoundException" });
  });
});

describe("an object", () => {
  const objects = () => createUploadObjects({ s3: s3(), environment: { UPLOADS_BUCKET: "b" } } as never);
  const headers = { etag: '"x"', "content-length": "5" };

  it("is not read to its end if its checksum is wrong", async () => {
    answer = answerOf(200, "hello", { ...headers, "x-amz-checksum-crc32": "AAAAAA==" });
    const error = await objects()
      .readWhole("k")
      .catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
  });

  it("is unavailable, and not empty, if no byte of a range comes", async () => {
    answer = answerOf(206, "", { etag: '"x"', "content-length": "0", "content-range": "bytes 0-4/5" });
    const error = await objects()
      .readWhole("k", { from: 0, to: 5 })
      .catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
  });

  it("is gone only if S3 itself says so", async () => {
    answer = answerOf(404, "", { "x-amz-request-id": "1" });
    expect(await objects().head("k")).toBeNull();
    answer = answerOf(404, "");
    await expect(objects().head("k")).rejects.toSatisfy(isUnavailable);
    answer = answerOf(404, HTML, { "x-amz-request-id": "1" });
    await expect(objects().readWhole("k")).rejects.toSatisfy(isUnavailable);
  });
});
