import { createHash } from "node:crypto";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { basename } from "node:path";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, DynamoDBStreamEvent, SQSEvent } from "aws-lambda";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { pages } from "../../functions/pages.ts";
import { allRoutes, unknownRoute } from "../../functions/routes.ts";
import { allWorkers, type Trigger } from "../../functions/workers.ts";
import { functionNames } from "../../infra/build.ts";
import { preparationsOf } from "../../apps/local/invoke-event.ts";
import { toProxyEvent } from "../../apps/local/gateway/proxy-event.ts";
import { messageIn } from "../../lib/changes/change-messages.ts";
import { InvalidInputError } from "../../lib/errors.ts";
import { conversationUploadId, idempotentUploadJobId, idempotentWebhookId, workItemId } from "../../lib/identity.ts";
import { preparePages } from "../support/pages.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { sqsEvent } from "../support/uploads/upload-harness.ts";
import { allSamples, eventOf, functionOf, refusalOf, sendSamples } from "./samples.ts";

const pageSchema = z.string().startsWith("<!doctype html>");
const errorSchema = z.strictObject({ error: z.string().min(1) });

const keysOf = (value: object | undefined): string[] => Object.keys(value ?? {}).toSorted();

const messagesOf = (sample: string): unknown[] =>
  (eventOf(sample) as SQSEvent).Records.map(({ body }) => JSON.parse(body) as unknown);

/**
 * The event that the local gateway makes of the request in a sample. It sends each body in base64; a sample shows text as
 * it is.
 */
const proxyEventOf = (event: APIGatewayProxyEvent): APIGatewayProxyEvent => {
  const { httpMethod, path, headers, body, isBase64Encoded, resource, requestContext } = event;
  const query = new URLSearchParams({ ...(event.queryStringParameters as Record<string, string> | null) });
  const message = Object.assign(new IncomingMessage(new Socket()), {
    method: httpMethod,
    url: `${path}?${query.toString()}`,
    headers: { "content-type": headers["Content-Type"] },
    rawHeaders: Object.entries(headers as Record<string, string>).flat(),
  });
  const made = toProxyEvent({
    message,
    body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"),
    resource,
    pathParameters: (event.pathParameters ?? {}) as Record<string, string>,
    requestId: requestContext.requestId,
  });
  return isBase64Encoded || body === null ? made : { ...made, body, isBase64Encoded };
};

type Outcomes = Awaited<ReturnType<typeof sendSamples>>;
/** What each sample results in, once those that make what it needs were sent. */
const outcomes = new Map<string, PromiseSettledResult<unknown>>();
beforeAll(async () => {
  await preparePages();
  const preparing = (sample: string) =>
    preparationsOf(`events/${sample}.json`).map(([, file]) => basename(file, ".json"));
  // What is refused without a preparation leaves nothing behind.
  const leavesNothing = (sample: string) => refusalOf(sample) !== undefined && preparing(sample).length === 0;
  const refused = await sendSamples(await createTestRuntime(), allSamples.filter(leavesNothing));
  for (const [sample, outcome] of refused) outcomes.set(sample, outcome);
  for (const sample of allSamples.filter((each) => !leavesNothing(each))) {
    const sent = await sendSamples(await createTestRuntime(), [...preparing(sample), sample]);
    outcomes.set(sample, sent.get(sample)!);
  }
});

const valueOf = (sample: string, all: Outcomes = outcomes): unknown => {
  const outcome = all.get(sample);
  if (outcome?.status !== "fulfilled") throw new Error(`${sample} has no response`, { cause: outcome?.reason });
  return outcome.value;
};
const responseTo = (sample: string, all: Outcomes = outcomes) => {
  const { statusCode, headers, body } = valueOf(sample, all) as APIGatewayProxyResult;
  const read: unknown = headers?.["content-type"] === "application/json" ? JSON.parse(body) : body;
  return { status: statusCode, body: read as { data: Record<string, unknown> } };
};

const samplesOf = (...kinds: readonly Trigger["kind"][]): string[] => {
  const names = allWorkers.filter(({ trigger }) => kinds.includes(trigger.kind)).map(({ name }) => name);
  return allSamples.filter((sample) => names.includes(functionOf(sample)));
};
const isWorker = (name: string): boolean => allWorkers.some((worker) => worker.name === name);
const apiSamples = allSamples.filter((sample) => !isWorker(functionOf(sample)));
const routeOf = (sample: string) => allRoutes().find(({ name }) => name === functionOf(sample));

describe("events/", () => {
  it.each(functionNames)("holds a sample that %s takes", (name) => {
    expect(allSamples).toContain(name);
  });

  // Functions with a schedule don't read their events, so no event is wrong.
  const scheduled = new Set(allWorkers.filter(({ trigger }) => trigger.kind === "schedule").map(({ name }) => name));
  it.each(functionNames.filter((name) => !scheduled.has(name)))("holds a sample that %s refuses", (name) => {
    const refused = allSamples.filter((sample) => functionOf(sample) === name && refusalOf(sample) !== undefined);
    expect(refused).not.toEqual([]);
  });

  it("holds samples of existing functions only", () => {
    expect(allSamples.filter((sample) => !functionNames.includes(functionOf(sample)))).toEqual([]);
  });

  it("names resources by the ids of their external_ids and Idempotency-Keys", () => {
    const api = (sample: string) => eventOf(sample) as APIGatewayProxyEvent;
    const body = (sample: string) => JSON.parse(api(sample).body ?? "") as Record<string, unknown>;
    const externalIdOf = (input: unknown): string => (input as { external_id: string }).external_id;
    const uploadId = (sample: string): string =>
      idempotentUploadJobId("demo", api(sample).headers["Idempotency-Key"] ?? "");

    const item = workItemId("demo", externalIdOf(body("create-work-item")["work_item"]));
    const [batched, other] = (body("apply-work-item-batch")["work_items"] as object[]).map(externalIdOf);
    expect(workItemId("demo", batched ?? "")).toBe(item);
    const conversation = conversationUploadId("demo", externalIdOf(eventOf("record-conversation-upload")));
    const [job, form] = [uploadId("upload-work-items"), uploadId("upload-work-items.form")];

    const expected = {
      "get-work-item": item,
      "update-work-item": item,
      "upsert-work-item-event": item,
      "list-work-item-events": item,
      "delete-work-item-event": item,
      "delete-work-item": workItemId("demo", other ?? ""),
      "get-conversation-upload": conversation,
      "get-work-item-upload": job,
      "get-work-item-upload-failed-rows": job,
      "get-work-item-upload-results": job,
      "undo-work-item-upload": job,
      "cancel-work-item-upload": form,
      "cancel-work-item-upload.409": job,
      "delete-webhook": idempotentWebhookId("demo", api("create-webhook").headers["Idempotency-Key"] ?? ""),
    };
    const named = Object.keys(expected).map((sample) => [sample, api(sample).pathParameters?.["id"]]);
    expect(Object.fromEntries(named)).toEqual(expected);
    expect(externalIdOf(eventOf("record-qa-score"))).toBe(batched);
    const { Records: written } = eventOf("record-changes") as DynamoDBStreamEvent;
    expect(written[0]?.dynamodb?.Keys?.["pk"]?.S).toBe(`ITEM#demo#${item}`);
    const [sent] = (eventOf("append-changes") as SQSEvent).Records;
    expect(messageIn(sent?.body ?? "")).toMatchObject({ organization: "demo", ids: [item] });
    const key = `uploads/demo/${job}/source.csv`;
    expect(messagesOf("split-upload.s3")).toMatchObject([{ Records: [{ s3: { object: { key } } }] }]);
    expect(messagesOf("split-upload")).toEqual([{ organization: "demo", id: job }]);
    expect(messagesOf("apply-upload-chunk")).toEqual([{ organization: "demo", id: job, shard: 0, chunk: 0 }]);
  });
});

describe("API functions", () => {
  it.each(apiSamples)("%s is a subset of the gateway's event", (sample) => {
    const event = eventOf(sample) as APIGatewayProxyEvent;
    expect(proxyEventOf(event)).toMatchObject(event);
    const { resource, path, pathParameters } = event;
    const filledIn = resource.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => pathParameters?.[name] ?? "");
    expect(path).toBe(filledIn);
    const { method, path: itsResource } = routeOf(sample) ?? { method: event.httpMethod, path: resource };
    expect({ method: event.httpMethod, resource }).toEqual({ method, resource: itsResource });
  });

  it.each(apiSamples)("%s has the response that its name says", (sample) => {
    const route = routeOf(sample);
    // This function only refuses requests: without a status in the sample's name, the response is 404.
    const usual = functionOf(sample) === unknownRoute.name ? 404 : (route?.status ?? 200);
    const { status, body } = responseTo(sample);
    const hint = "name what makes what it needs in PREPARATIONS of apps/local/invoke-event.ts";
    expect({ status, body }, hint).toMatchObject({ status: Number(refusalOf(sample) ?? usual) });
    const ofApi = status >= 400 ? errorSchema : route?.response;
    const schema = functionOf(sample) === pages.name ? pageSchema : ofApi;
    expect(schema?.safeParse(body)).toMatchObject({ success: true });
  });

  it.each(allSamples.filter((sample) => sample.startsWith("list-") && refusalOf(sample) === undefined))(
    "%s finds what other samples made",
    (sample) => {
      expect(responseTo(sample).body.data).not.toEqual([]);
    },
  );
});

describe("functions behind queues", () => {
  it.each(samplesOf("queue"))("%s is an event of SQS", (sample) => {
    const { Records } = eventOf(sample) as SQSEvent;
    expect(Records).not.toEqual([]);
    for (const record of Records) {
      expect(keysOf(record)).toEqual(keysOf(sqsEvent("")["Records"][0]));
      expect(record.md5OfBody).toBe(createHash("md5").update(record.body).digest("hex"));
    }
  });

  it.each(samplesOf("queue"))("%s fails, or does not, as its name says", (sample) => {
    const { Records } = eventOf(sample) as SQSEvent;
    // A message of changes that names no organization is logged and dropped.
    const failed = refusalOf(sample) === "failure" ? Records : [];
    const batchItemFailures = failed.map(({ messageId }) => ({ itemIdentifier: messageId }));
    expect(valueOf(sample)).toEqual({ batchItemFailures });
  });

  it("take an upload from its file to its last row", () => {
    const { data } = responseTo("get-work-item-upload").body;
    expect(data).toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 1, failed_rows: 1 });
    const report = responseTo("get-work-item-upload-failed-rows").body.data;
    expect(report).toMatchObject({ rows: 1, url: expect.stringContaining(String(data["id"])) });
    const results = responseTo("get-work-item-upload-results").body.data;
    expect(results).toMatchObject({ rows: 2, url: expect.stringContaining(String(data["id"])) });
  });
});

describe("functions that other systems or the clock invoke", () => {
  it.each(samplesOf("direct").filter((sample) => refusalOf(sample) === undefined))("%s is carried out", (sample) => {
    const { organization, ...recorded } = eventOf(sample) as Record<string, unknown>;
    expect(organization).toBe("demo");
    expect(valueOf(sample)).toMatchObject(recorded);
  });

  it.each(samplesOf("direct").filter((sample) => refusalOf(sample) === "error"))("%s is rejected", (sample) => {
    expect(outcomes.get(sample)).toMatchObject({ status: "rejected", reason: expect.any(InvalidInputError) });
  });

  it.each(samplesOf("schedule"))("%s takes a scheduled event", (sample) => {
    expect(eventOf(sample)).toMatchObject({ source: "aws.events", "detail-type": "Scheduled Event" });
    expect(valueOf(sample)).toBeUndefined();
  });
});

describe("functions behind streams", () => {
  it.each(samplesOf("stream"))("%s is an event of a table's stream, and all of it is done with", (sample) => {
    const { Records } = eventOf(sample) as DynamoDBStreamEvent;
    expect(Records).not.toEqual([]);
    for (const { eventSource, dynamodb } of Records) {
      expect(eventSource).toBe("aws:dynamodb");
      expect(keysOf(dynamodb)).toEqual([
        "ApproximateCreationDateTime",
        "Keys",
        "SequenceNumber",
        "SizeBytes",
        "StreamViewType",
      ]);
    }
    expect(valueOf(sample)).toEqual({ batchItemFailures: [] });
  });
});
