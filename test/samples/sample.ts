import { DynamoDBClient, PutItemCommand, ScanCommand, type AttributeValue } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { create as createDeliver } from "../../functions/deliver-webhooks.ts";
import { create as createSweepChanges } from "../../functions/sweep-changes.ts";
import { keptInLog } from "../../apps/operator/data/command-log.ts";
import { eraseItem } from "../../apps/operator/data/erase-item.ts";
import { keptInLedger } from "../../apps/operator/data/erasure-ledger.ts";
import { reapplyErasures } from "../../apps/operator/data/reapply-erasures.ts";
import { createDueGaps } from "../../lib/changes/due-gaps.ts";
import { isoTime } from "../../lib/clock.ts";
import { workItemId } from "../../lib/identity.ts";
import { resources, resourcesOfKind } from "../../lib/resources.ts";
import type { TestClock } from "../support/clock.ts";
import { createDyingUploads } from "../support/uploads/dying-workers.ts";
import { sqsEvent } from "../support/uploads/upload-harness.ts";
import { dataOf, MINUTE_MS } from "../support/uploads/upload-service.ts";
import { fill, operatorOf } from "../support/customer-data.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";
import { createDelivery } from "../support/stream.ts";

interface Run {
  readonly organization: string;
  readonly key: string;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  /** The import that has ended, and the one under way. */
  readonly completed: string;
  readonly running: string;
}

/** One thing that is stored or sent. Bytes are base64, as DynamoDB's own JSON has them. */
export type Line =
  | { readonly table: string; readonly record: Readonly<Record<string, AttributeValue>> }
  | { readonly object: string; readonly base64: string }
  | { readonly queue: string; readonly body: string }
  | { readonly cursors: { readonly items: string; readonly changes: string } }
  | { readonly run: Run };

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
export const toText = (line: Line): string =>
  JSON.stringify(line, (_, value: unknown) =>
    isBytes(value) ? { bytes: Buffer.from(value).toString("base64") } : value,
  );
export const toLine = (text: string): Line =>
  JSON.parse(text, (_, value: unknown) => {
    const { bytes } = (value ?? {}) as { readonly bytes?: unknown };
    return typeof bytes === "string" ? Buffer.from(bytes, "base64") : value;
  }) as Line;

/** The records of all tables and the objects of the bucket, as they are stored. */
async function storedIn({ s3, environment }: TestRuntime): Promise<Line[]> {
  const dynamodb = new DynamoDBClient({});
  const lines: Line[] = [];
  for (const [table, { variable }] of resourcesOfKind("table")) {
    const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: environment[variable as "ACCESS_TABLE"] }));
    lines.push(...Items.map((record) => ({ table, record })));
  }
  const Bucket = environment.UPLOADS_BUCKET;
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key = "" } of Contents) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    lines.push({ object: Key, base64: (await Body?.transformToString("base64")) ?? "" });
  }
  dynamodb.destroy();
  return lines;
}

/** What operators leave: an erased item, the ledger applied to the table, and then an interrupted erasure of a person. */
async function operate(runtime: TestRuntime, clock: TestClock, organization: string): Promise<void> {
  const operator = operatorOf(runtime);
  const since = isoTime(clock());
  const [sleep, onDamaged] = [() => Promise.resolve(), () => undefined];
  const item = workItemId(organization, "gone");
  const command = { by: "arn:aws:iam::1:user/ann", command: "erase", organization, options: { item } };
  await keptInLog(operator, command, () =>
    keptInLedger(operator, organization, { item }, () => eraseItem(operator, organization, "gone", { sleep })),
  );
  await reapplyErasures(operator, operator, since, { onDamaged });
  clock.advance(MINUTE_MS);
  const stopped = new Error("stopped");
  await keptInLedger(operator, organization, { address: "bob@example.com" }, () => Promise.reject(stopped)).catch(
    (error: unknown) => {
      if (error !== stopped) throw error;
    },
  );
}

/** Runs the service so that it stores and sends something of each kind: an import that has ended, and one under way. */
export async function createSample(): Promise<Line[]> {
  const uploads = await createDyingUploads();
  const { runtime, harness, call, clock, key, organization } = uploads;
  const sent: Line[] = [];
  const nameOf = new Map(
    resourcesOfKind("queue").map(([name, { variable }]) => [runtime.environment[variable as "SPLIT_QUEUE_URL"], name]),
  );
  runtime.sqs.middlewareStack.add((next) => (request) => {
    const input = request.input as { QueueUrl?: string; MessageBody?: string; Entries?: { MessageBody?: string }[] };
    const queue = nameOf.get(input.QueueUrl ?? "");
    const bodies = [input, ...(input.Entries ?? [])].flatMap(({ MessageBody: body }) => body ?? []);
    if (queue !== undefined) sent.push(...bodies.map((body) => ({ queue, body })));
    return next(request);
  });
  const apply = (...items: readonly object[]) => call("applyWorkItemBatch", { body: { work_items: items } });
  await fill(runtime, { organization, key, keyId: "", send: call, apply });
  await apply({ external_id: "gone" });
  const completed = await uploads.prepare("");
  const trial = dataOf(await uploads.post("external_id,type\na,c\n", { dry_run: true })).id;
  await uploads.finish(trial);
  await uploads.finish(await uploads.askForUndo((await uploads.run("external_id\nundone\n")).id));
  const deliver = await createDelivery(runtime);
  await deliver();
  await createSweepChanges(runtime)({}, lambdaContext(120_000));
  clock.advance(MINUTE_MS);
  await operate(runtime, clock, organization.id);
  clock.advance(MINUTE_MS);
  const running = dataOf(await uploads.post("external_id,type\nr1,x\nr2,y\n")).id;
  await uploads.split(running);
  // Its worker dies before it has counted the rows.
  const [chunk] = await harness.take("chunks");
  await uploads.work("chunks", chunk!, (command) => command === "PutObjectCommand");
  await deliver();
  const calls = createDeliver(runtime);
  const notices = sent.flatMap((line) => ("queue" in line && line.queue === "webhooksQueue" ? [line.body] : []));
  for (const body of notices) await calls(sqsEvent(JSON.parse(body)), lambdaContext(120_000));
  await createDueGaps(runtime).noteOne(organization.id);
  const { body: items } = await call("listWorkItems", { query: { limit: 2 } });
  const { body: changes } = await call("listWorkItemChanges", { query: { limit: 2 } });
  const cursors = { items: items.meta.page.next!, changes: changes.meta.page.next };
  return [
    ...(await storedIn(runtime)),
    ...sent,
    { cursors },
    { run: { organization: organization.id, key, at: clock(), completed, running } },
  ];
}

/** Puts what a sample has into new tables and a new bucket. */
export async function restoreSample(lines: readonly Line[], clock: () => number): Promise<TestRuntime> {
  const runtime = await createTestRuntime({ clock });
  const dynamodb = new DynamoDBClient({});
  for (const line of lines) {
    if ("record" in line) {
      const { variable } = resources[line.table as "access"];
      await dynamodb.send(new PutItemCommand({ TableName: runtime.environment[variable], Item: line.record }));
    }
    if ("object" in line) {
      const Body = Buffer.from(line.base64, "base64");
      await runtime.s3.send(
        new PutObjectCommand({ Bucket: runtime.environment.UPLOADS_BUCKET, Key: line.object, Body }),
      );
    }
  }
  dynamodb.destroy();
  return runtime;
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|test-[\w-]+/g;
const kindOf = (text: string): string => text.replaceAll(ID, "*").replaceAll(/[0-9]+/g, "0");

/** The names in a value, with those in texts that are JSON. */
function namesIn(value: unknown, path: string): string[] {
  if (typeof value === "string" && /^[[{]/.test(value)) {
    try {
      return namesIn(JSON.parse(value), `${path} json`);
    } catch {
      return [path];
    }
  }
  if (Array.isArray(value)) return [path, ...value.flatMap((each) => namesIn(each, `${path}[]`))];
  if (typeof value !== "object" || value === null || isBytes(value)) return [path];
  return Object.entries(value).flatMap(([name, each]) => namesIn(each, `${path}.${kindOf(name)}`));
}

/** The names of all that is stored and sent, by kind, each with its type. */
export function namesOf(lines: readonly Line[]): string[] {
  const names = lines.flatMap((line): string[] => {
    if ("record" in line) {
      const [pk, sk] = [line.record["pk"]?.S ?? "", line.record["sk"]?.S ?? ""];
      return namesIn(line.record, `${line.table} ${pk.split("#")[0]} ${/^#?[A-Z_]*/.exec(sk)?.[0]}`);
    }
    if ("queue" in line) return namesIn(line.body, line.queue);
    if ("object" in line) {
      const text = Buffer.from(line.base64, "base64").toString();
      return [`${kindOf(line.object)}: ${JSON.stringify(kindOf(text.split("\n")[0] ?? ""))}`];
    }
    return [];
  });
  return [...new Set(names)].toSorted();
}
