import { setTimeout as sleep } from "node:timers/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { type DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { routes } from "../../functions/routes.ts";
import { deleteObjects, objectsOf } from "../../lib/customer-data/customer-objects.ts";
import { deleteRecords } from "../../lib/customer-data/customer-records.ts";
import type { RecordKey } from "../../lib/dynamodb/versioned-record.ts";
import { keyRecordKey, listedKeyKey, organizationRecordKey } from "../../lib/organizations/access-store.ts";
import { type Administration, createKey, listKeys } from "../../lib/organizations/administration.ts";
import { keyUseKey } from "../../lib/organizations/key-use.ts";
import { rateLimitKey } from "../../lib/organizations/rate-limit.ts";
import { PARTITION_KEY, partitionKeyOf, SORT_KEY } from "../../lib/resources.ts";
import type { RegionCode } from "../../lib/regions.ts";
import { itemKeyOf } from "../../lib/work-items/work-item-record.ts";
import type { Variables } from "../environment-file.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import { reasonOf } from "./local-stack-error.ts";

/** Everything that it writes belongs to this organization, which exists only meanwhile. Nobody else has this name. */
const ORGANIZATION = "rehearsal-of-the-local-stack";
const EXTERNAL_ID = "rehearsal";
const BOUNDARY = "boundary";
const FORM = [
  `--${BOUNDARY}`,
  'Content-Disposition: form-data; name="upload[file]"; filename="rehearsal.csv"',
  "",
  `external_id\r\n${EXTERNAL_ID}`,
  `--${BOUNDARY}--`,
  "",
].join("\r\n");
const POLL_MS = 50;
const GIVE_UP_AFTER_MS = 30_000;
const STOP_WITHIN_MS = 5000;

/** What a rehearsal requires of the local stack. */
interface RehearsedStack {
  readonly functionNamed: (name: string) => LambdaFunction;
  readonly dynamodb: DynamoDBDocumentClient;
  readonly s3: S3Client;
  readonly region: RegionCode;
  readonly environment: Variables;
}

const resultSchema = z.object({ statusCode: z.number(), body: z.string() });
const jobSchema = z.object({ data: z.object({ id: z.string(), status: z.string() }) });

/** Removes what the rehearsal has written. */
const cleanUp = async (stack: RehearsedStack, administration: Administration, job: string): Promise<void> => {
  const { dynamodb, s3, environment } = stack;
  const { ACCESS_TABLE = "", LIMITS_TABLE = "", WORK_ITEMS_TABLE = "", UPLOADS_BUCKET = "" } = environment;
  const { Items: records = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: WORK_ITEMS_TABLE,
      KeyConditionExpression: `${PARTITION_KEY} = :job`,
      ExpressionAttributeValues: { ":job": partitionKeyOf("UPLOAD", ORGANIZATION, job) },
      ProjectionExpression: `${PARTITION_KEY}, ${SORT_KEY}`,
      ConsistentRead: true,
    }),
  );
  const keys = await listKeys(administration, ORGANIZATION);
  const bucket = { s3, environment: { UPLOADS_BUCKET } };
  await deleteRecords(stack, WORK_ITEMS_TABLE, [...(records as RecordKey[]), itemKeyOf(ORGANIZATION, EXTERNAL_ID)]);
  for await (const objects of objectsOf(bucket, ORGANIZATION)) await deleteObjects(bucket, objects);
  const limits = [rateLimitKey(ORGANIZATION), ...keys.map(({ key_id: id }) => keyUseKey(id))];
  await deleteRecords(stack, LIMITS_TABLE, limits);
  const access = keys.flatMap((key) => [keyRecordKey(key.hash), listedKeyKey(key)]);
  await deleteRecords(stack, ACCESS_TABLE, [...access, organizationRecordKey(ORGANIZATION)]);
};

/**
 * Uploads a file of one row as an organization of its own, and removes what it has written. After that, the first file
 * of a person takes half as long: the functions have run all that a file needs.
 * @returns a function that waits for its end, which is half a second after its begin, or else interrupts it
 */
export const rehearseUpload = (stack: RehearsedStack): (() => Promise<void>) => {
  const { functionNamed, dynamodb, region, environment } = stack;
  const { ACCESS_TABLE = "" } = environment;
  const administration: Administration = { dynamodb, environment: { ACCESS_TABLE }, region, clock: Date.now };
  let isStopped = false;

  const call = async (name: string, event: object): Promise<z.output<typeof jobSchema>["data"]> => {
    const invocation = await functionNamed(name).invoke(JSON.stringify(event));
    if (!invocation.ok) throw new Error(`${name}: ${invocation.error.errorMessage}`);
    const { statusCode, body } = resultSchema.parse(JSON.parse(invocation.payload));
    if (statusCode >= 400) throw new Error(`${name}: ${statusCode} ${body}`);
    return jobSchema.parse(JSON.parse(body)).data;
  };
  const run = async (): Promise<void> => {
    const { key } = await createKey(administration, ORGANIZATION);
    const headers = { Authorization: `Bearer ${key}` };
    let { id, status } = await call(routes.uploadWorkItems.name, {
      headers: { ...headers, "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
      body: FORM,
      isBase64Encoded: false,
    });
    const end = Date.now() + GIVE_UP_AFTER_MS;
    while (status === "pending" || status === "processing") {
      await sleep(POLL_MS);
      if (isStopped) return;
      if (Date.now() > end) throw new Error(`a file of one row is still ${status}`);
      ({ status } = await call(routes.getWorkItemUpload.name, { headers, pathParameters: { id } }));
    }
    await cleanUp(stack, administration, id);
    if (status !== "completed") throw new Error(`a file of one row is ${status}`);
  };

  const running = run().catch((error) => {
    if (!isStopped) console.error(`uploads may not work: ${reasonOf(error)}; functions.log may tell more`);
  });
  return async () => {
    await Promise.race([running, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    isStopped = true;
  };
};
