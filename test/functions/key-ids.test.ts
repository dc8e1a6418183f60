import { Logger } from "@aws-lambda-powertools/logger";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { beforeAll, describe, expect, it } from "vitest";
import type { GetWorkItemUploadResponseBody } from "../../apps/client/openapi-types.ts";
import { create as createGetWorkItem } from "../../functions/get-work-item.ts";
import { revokeKey } from "../../apps/operator/data/key-management.ts";
import { administrationOf, call, createTestOrganization } from "../support/organization.ts";
import { createCustomer, type Customer } from "../support/customer-data.ts";
import { createTestRuntime, type TestRuntime } from "../support/runtime.ts";

/** Keeps the fields of each line. */
class KeptLog extends Logger {
  readonly lines: Record<string, unknown>[] = [];
  override info(...[message, fields]: Parameters<Logger["info"]>): void {
    this.lines.push({ message, ...(Object(fields) as object) });
  }
}

let runtime: TestRuntime;
let log: KeptLog;
let caller: Customer;
let records: Record<string, unknown>[];
let job: GetWorkItemUploadResponseBody["data"];
beforeAll(async () => {
  log = new KeptLog();
  runtime = { ...(await createTestRuntime()), log };
  caller = await createCustomer(runtime);
  await caller.apply({ external_id: "a", events: [{ external_id: "e" }] });
  const asked = await caller.send("uploadWorkItems", { body: { upload: { filename: "a.csv", size: 10 } } });
  job = asked.body.data;
  await caller.send("cancelWorkItemUpload", { params: { id: job.id } });
  const { Items = [] } = await runtime.dynamodb.send(
    new ScanCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, ConsistentRead: true }),
  );
  records = Items.filter(({ pk }) => String(pk).includes(`#${caller.organization.id}#`));
});

describe("the id of a key", () => {
  it("is in the log line of each request, and of each upload that ends", () => {
    const { id: organization } = caller.organization;
    const lines = log.lines.filter(({ message }) => message === "request" || message === "upload ended");
    expect(lines.map(({ message }) => message)).toEqual(["request", "request", "upload ended", "request"]);
    for (const line of lines) expect(line).toMatchObject({ organization, key: caller.keyId });
  });

  it("is in the log line of a request that is rejected since its key is revoked", async () => {
    const { organization, key, keyId } = await createTestOrganization(runtime);
    await revokeKey(administrationOf(runtime), organization.id, keyId);
    expect((await call(createGetWorkItem(runtime), { key })).status).toBe(401);
    expect(log.lines.at(-1)).toMatchObject({ status: 401, organization: organization.id, key: keyId });
  });

  it("is kept with an upload job, and not shown", () => {
    const [record, ...others] = records.filter(({ sk }) => sk === "#JOB");
    expect([record?.["key_id"], others]).toEqual([caller.keyId, []]);
    expect(JSON.stringify(job)).not.toContain(caller.keyId);
  });

  it("is in no work item and no event", () => {
    const items = records.filter(({ pk }) => String(pk).startsWith("ITEM#"));
    expect(items).toHaveLength(2);
    expect(JSON.stringify(items)).not.toContain(caller.keyId);
  });
});
