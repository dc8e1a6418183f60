import { randomUUID } from "node:crypto";
import { Logger } from "@aws-lambda-powertools/logger";
import { beforeEach, describe, expect, test } from "vitest";
import { create as createWorkItem } from "../../functions/create-work-item.ts";
import { create as createUpload } from "../../functions/upload-work-items.ts";
import { functionNames } from "../../infra/build.ts";
import { ACCESS_QUERIES, SAVED_QUERIES } from "../../infra/constructs/saved-queries.ts";
import { createAppendChanges } from "../../lib/changes/change-queue-worker.ts";
import { bodyOf } from "../../lib/changes/change-messages.ts";
import { createRecordChanges } from "../../lib/changes/change-stream-worker.ts";
import { createFailures } from "../../lib/changes/failing-changes.ts";
import { injectFaults, withoutTimeouts } from "../support/faults.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { multipart } from "../support/uploads/multipart.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { plain, resourceOf, resourcesOf, synthesize } from "./synthesized.ts";

const { us } = synthesize();

type Line = Readonly<Record<string, unknown>> & { readonly message: string };

/** Fields that CloudWatch and the logger add to each line. */
const OF_CLOUDWATCH = ["@timestamp", "@message", "@log", "message", "level", "record"];

/** Names that a query reads, without its own results. */
const fieldsOf = (commands: readonly string[]): string[] => {
  const text = commands.join(" ").replaceAll(/"[^"]*"/g, "");
  const made = new Set([...text.matchAll(/ as (\w+)/g)].map(([, name]) => name));
  const words = text.match(/@?[a-z_0-9]*[a-z_][a-z_0-9]*(?!\w*\()/gi) ?? [];
  const keywords = new Set([
    "filter",
    "fields",
    "stats",
    "sort",
    "limit",
    "display",
    "by",
    "and",
    "or",
    "in",
    "as",
    "like",
    "desc",
  ]);
  return [...new Set(words)].filter((word) => !keywords.has(word) && !made.has(word));
};

/** The lines that the request of an upload and its job leave in the log, each with its message. */
const linesOf = async () => {
  const lines: Line[] = [];
  class Kept extends Logger {
    override info(...[message, fields]: Parameters<Logger["info"]>): void {
      if (typeof message === "string") lines.push({ message, ...(Object(fields) as object) });
    }
    override warn(...given: Parameters<Logger["info"]>): void {
      this.info(...given);
    }
    override error(...given: Parameters<Logger["info"]>): void {
      this.info(...given);
    }
  }
  const runtime = { ...(await createTestRuntime()), log: new Kept() };
  const { organization, key } = await createTestOrganization(runtime);
  const { body } = await call(createUpload(runtime), { key, ...multipart("external_id\na\n") });
  const { id } = (body as { data: { id: string } }).data;
  const harness = createUploadHarness(runtime);
  await harness.split(sqsEvent(splitMessage({ organization: organization.id, id })), lambdaContext());
  await harness.drain();
  return { lines, runtime, organization, key };
};

beforeEach(withoutTimeouts);

test("an upload can be followed from its request to its end by its id or the request's", async () => {
  const { lines } = await linesOf();
  expect(lines.map(({ message }) => message)).toEqual(["request", "file read", "rows applied", "upload ended"]);
  const { job, request_id: request } = lines[0]!;
  for (const line of lines) expect(line).toMatchObject({ job, request_id: request });
  expect([job, request]).toEqual([expect.any(String), expect.any(String)]);
  expect(lines.at(-1)).toMatchObject({ rows: 1, succeeded_rows: 1, failed_rows: 0, created_rows: 1, updated_rows: 0 });
});

describe("saved queries", () => {
  test("read what the functions write", async () => {
    const { lines, runtime, organization, key } = await linesOf();
    await call(createWorkItem(runtime), { key, method: "POST", body: { work_item: { external_id: "b" } } });
    await createFailures(runtime).giveUp(organization.id, new Error("damaged"));
    const { upload, split } = createUploadHarness(runtime);
    const waiting = await upload(organization, "external_id\na\n");
    injectFaults(runtime.sqs, () => "unreachable");
    await split(sqsEvent(splitMessage(waiting)), lambdaContext());
    injectFaults(runtime.dynamodb, () => "unreachable");
    const partitionKey = `ITEM#${organization.id}#${randomUUID()}`;
    await createRecordChanges(runtime)([{ eventId: "1", partitionKey, createdAt: Date.now() }]);
    const body = bodyOf({ organization: organization.id, ids: [randomUUID()], jobs: [], writtenAt: Date.now() });
    await createAppendChanges(runtime, async () => undefined)(sqsEvent(body), lambdaContext());
    for (const [name, commands] of Object.entries(SAVED_QUERIES)) {
      const messages = [...(/message (?:=|in) (.*?)(?: and|$)/.exec(commands[0])?.[1]?.matchAll(/"([^"]+)"/g) ?? [])];
      const read = messages.map(([, message]) => lines.filter((line) => line.message === message));
      for (const own of read.length === 0 ? [lines] : read) {
        const written = [...OF_CLOUDWATCH, ...own.flatMap((line) => Object.keys(line))];
        expect([name, fieldsOf(commands).filter((field) => !written.includes(field))]).toEqual([name, []]);
      }
    }
  });

  test("read what the gateway writes into the access log", () => {
    const { AccessLogSetting: setting } = plain(resourceOf(us, "AWS::ApiGateway::Stage")) as {
      AccessLogSetting: { Format: string };
    };
    const written = [...OF_CLOUDWATCH, ...Object.keys(JSON.parse(setting.Format) as object)];
    const read = Object.values(ACCESS_QUERIES).flatMap((commands) => fieldsOf(commands));
    expect(read.filter((field) => !written.includes(field))).toEqual([]);
  });

  test("are over the logs of all functions, and no more than Logs Insights takes", () => {
    const queries = resourcesOf(us, "AWS::Logs::QueryDefinition").map(([, query]) => plain(query));
    expect(queries).toHaveLength(Object.keys({ ...SAVED_QUERIES, ...ACCESS_QUERIES }).length);
    for (const query of queries) {
      const { LogGroupNames: groups, Name: name } = query as { LogGroupNames: string[]; Name: string };
      const isOfAccess = Object.keys(ACCESS_QUERIES).includes(name.slice("WorkItems-us/".length));
      expect([name, groups.length]).toEqual([name, isOfAccess ? 1 : functionNames.length]);
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
      expect(groups.length).toBeLessThanOrEqual(50);
    }
  });
});
