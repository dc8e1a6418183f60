import { Logger } from "@aws-lambda-powertools/logger";
import { describe, expect, test } from "vitest";
import { create as createListItems } from "../../functions/list-work-items.ts";
import { functionNames } from "../../infra/build.ts";
import { SAVED_QUERIES } from "../../infra/constructs/saved-queries.ts";
import { createUploads } from "../../lib/uploads/uploads.ts";
import { call, createTestOrganization } from "../support/organization.ts";
import { createTestRuntime } from "../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../support/uploads/upload-harness.ts";
import { plain, resourceOf, resourcesOf, synthesize } from "./synthesized.ts";

const { us } = synthesize();

/** Fields that CloudWatch adds to each line. */
const OF_CLOUDWATCH = ["@timestamp", "message"];

/** Names that a query reads, without its own results. */
const fieldsOf = (commands: readonly string[]): string[] => {
  const text = commands.join(" ").replaceAll(/"[^"]*"/g, "");
  const made = new Set([...text.matchAll(/ as (\w+)/g)].map(([, name]) => name));
  const words = text.match(/@?[a-z_0-9]*[a-z_][a-z_0-9]*(?!\w*\()/g) ?? [];
  const keywords = new Set(["filter", "stats", "sort", "limit", "display", "by", "and", "in", "as", "desc"]);
  return [...new Set(words)].filter((word) => !keywords.has(word) && !made.has(word));
};

/** The lines that a request and a job leave in the log. */
const linesOf = async (): Promise<Record<string, object>> => {
  const lines: Record<string, object> = {};
  class Kept extends Logger {
    override info(...[message, fields]: Parameters<Logger["info"]>): void {
      if (typeof message === "string") lines[message] = Object(fields) as object;
    }
  }
  const runtime = { ...(await createTestRuntime()), log: new Kept() };
  const { organization, key } = await createTestOrganization(runtime);
  await call(createListItems(runtime), { resource: "/v1/work_items", key });
  const harness = createUploadHarness(runtime);
  const job = await harness.upload(organization, "external_id\na\n");
  await harness.split(sqsEvent(splitMessage(job)), {} as never).catch(() => undefined);
  await createUploads(runtime).store.requestStop(job, "cancelled");
  await createUploads(runtime).finish(job);
  return lines;
};

describe("saved queries", () => {
  test("read what the functions write", async () => {
    const lines = await linesOf();
    for (const [name, commands] of Object.entries(SAVED_QUERIES)) {
      const [, message = ""] = /message = "([^"]+)"/.exec(commands[0]) ?? [];
      const written = [...OF_CLOUDWATCH, ...Object.keys(lines[message] ?? {})];
      expect([name, fieldsOf(commands).filter((field) => !written.includes(field))]).toEqual([name, []]);
    }
  });

  test("are over the logs of all functions, and no more than Logs Insights takes", () => {
    const queries = resourcesOf(us, "AWS::Logs::QueryDefinition").map(([, query]) => plain(query));
    expect(queries).toHaveLength(Object.keys(SAVED_QUERIES).length);
    for (const query of queries) {
      const { LogGroupNames: groups } = query as { LogGroupNames: string[] };
      expect(groups).toHaveLength(functionNames.length);
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
      expect(groups.length).toBeLessThanOrEqual(50);
    }
  });

  test("are named on the dashboard", () => {
    const { DashboardBody: body } = plain(resourceOf(us, "AWS::CloudWatch::Dashboard")) as { DashboardBody: string };
    for (const name of Object.keys(SAVED_QUERIES)) expect(body).toContain(`WorkItems-us/${name}`);
  });
});
