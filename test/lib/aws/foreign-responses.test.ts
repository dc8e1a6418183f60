import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createDynamoDbClient } from "../../../lib/aws/dynamodb-client.ts";
import { isUnavailable } from "../../../lib/aws/error-codes.ts";
import { createS3Client } from "../../../lib/aws/s3-client.ts";
import { createRecordStore } from "../../../lib/store/record-store.ts";
import { lambdaContext } from "../../support/lambda-context.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../support/uploads/upload-harness.ts";
import { createUploadService, MINUTE_MS, type UploadService } from "../../support/uploads/upload-service.ts";

const HTML = "<html><body><b>Http/1.1 Service Unavailable</b></body></html>";
/** Responses that no API of AWS gives, but a proxy before it might. */
const FOREIGN = {
  "502 with HTML": [502, HTML],
  "404 with HTML": [404, HTML],
  "200 without a body": [200, ""],
} as const;

/** Clients of a server that gives one response to everything. */
const startForeign = async ([status, body]: readonly [number, string]) => {
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(status).end(request.method === "HEAD" ? "" : body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const options = { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const dynamodb = createDynamoDbClient({}, options);
  const s3 = createS3Client({ S3_FORCE_PATH_STYLE: true }, options);
  onTestFinished(() => {
    dynamodb.destroy();
    s3.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { dynamodb, s3 };
};

describe.each(Object.entries(FOREIGN))("%s", (_name, response) => {
  let service: UploadService;
  beforeAll(async () => {
    service = await createUploadService();
  });

  it("is an unknown outcome of a write", async () => {
    const { dynamodb, s3 } = await startForeign(response);
    const store = createRecordStore({ ...service.runtime, dynamodb });
    const writes = ["a", "b"].map((pk) => ({
      key: { pk, sk: "#" },
      before: undefined,
      set: { version: 1 },
      remove: [],
    }));
    const outcomes = await store.write(writes, () => Promise.resolve());
    // To a single PutItem, an empty 200 is what DynamoDB itself sends.
    if (response[1] !== "") outcomes.push(...(await store.write(writes.slice(0, 1), () => Promise.resolve())));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["unknown"]));
    const { objects } = createUploadHarness({ ...service.runtime, s3 });
    await expect(objects.write("k", Buffer.from("x"))).rejects.toSatisfy(isUnavailable);
  });

  it("ends no job, and says of no file that it was deleted or is empty", async () => {
    const { s3 } = await startForeign(response);
    const { clock, get, harness, jobKey, later, organization } = service;
    const foreign = createUploadHarness({ ...service.runtime, s3 });
    const split = (by: typeof harness) => by.split(sqsEvent(splitMessage(jobKey(id))), lambdaContext(120_000));
    const { id } = await harness.upload(organization, "external_id\na\nb\nc\n");
    await split(foreign);
    expect(await get(id)).toMatchObject({ status: "pending" });
    clock.advance(MINUTE_MS);
    await split(harness);
    await foreign.deliver("chunks");
    expect(await get(id)).toMatchObject({ status: "processing", succeeded_rows: 0 });
    for (let minutes = 0; minutes < 5; minutes++) await later(MINUTE_MS);
    expect(await get(id)).toMatchObject({ status: "completed", created_rows: 3 });
  });
});
