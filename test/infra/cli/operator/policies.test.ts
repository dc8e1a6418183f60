import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { workItemId } from "../../../../lib/identity.ts";
import { itemKeyOf } from "../../../../lib/work-items/work-item-record.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { OPERATOR_POLICIES, type OperatorPolicy, policyFor } from "../../../../infra/cli/operator/policies.ts";
import {
  getOrganization,
  growListingShards,
  listOrganizations,
  putOrganization,
} from "../../../../lib/operator/administration.ts";
import { readFeedState, resyncFeed } from "../../../../lib/operator/change-log.ts";
import { keptInLog } from "../../../../lib/operator/command-log.ts";
import {
  assertLedgerOf,
  keptInLedger,
  lackedErasure,
  reapplyErasures,
} from "../../../../lib/operator/erasure-ledger.ts";
import { eraseItem } from "../../../../lib/operator/erase-item.ts";
import { countForErasure, eraseOrganization } from "../../../../lib/operator/erase-organization.ts";
import { erasePerson } from "../../../../lib/operator/erase-person.ts";
import { exportOrganization } from "../../../../lib/operator/export-organization.ts";
import { importOrganization } from "../../../../lib/operator/import-organization.ts";
import { createKey, lastUsesOf, listAllKeys, listKeys, revokeKey, rotateKey } from "../../../../lib/operator/keys.ts";
import type { Permissions } from "../../../../lib/aws/permissions.ts";
import { resources } from "../../../../lib/resources.ts";
import { isoTime } from "../../../../lib/clock.ts";
import { stopAtDamaged } from "../../../../lib/store/decode-record.ts";
import { createTestClock } from "../../../support/clock.ts";
import { createCustomer, fill, operatorOf, putObject } from "../../../support/customer-data.ts";
import { restrictedRuntime } from "../../../support/restricted-runtime.ts";
import { resourcesOf, synthesize } from "../../synthesized.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const clock = createTestClock();
const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
const used = new Map<OperatorPolicy, Set<string>>();
let runtime: TestRuntime;
let lines: string[] = [];
const command = { by: "arn:aws:iam::1:user/ann", organization: "acme", options: {} };

async function* linesOf(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

/** The operator, with no more permissions than a policy has. */
const operator = (name: OperatorPolicy) => {
  const calls = used.get(name) ?? new Set();
  used.set(name, calls);
  const permissions = Object.fromEntries(
    Object.entries(OPERATOR_POLICIES[name]).map(([resource, actions]) => [
      resource,
      { actions, ...(resource === "workItems" && { indexes: Object.keys(resources.workItems.indexes) }) },
    ]),
  ) as unknown as Permissions;
  return operatorOf(
    restrictedRuntime(runtime, permissions, ({ resource, action }) => void calls.add(`${resource} ${action}`)),
  );
};

beforeAll(async () => {
  runtime = await createTestRuntime({ clock });
  const acme = await createCustomer(runtime, "acme");
  await fill(runtime, acme);
  // More events than go with their item.
  for (const half of ["a", "b"]) {
    const events = Array.from({ length: 80 }, (_, index) => ({ external_id: `${half}${index}` }));
    await acme.apply({ external_id: "large", events });
  }
  await putObject(runtime, "uploads/acme/some/source.csv");
});

describe("a person with the policy", () => {
  test("read may list, show and export, and see keys and feeds", async () => {
    const read = operator("read");
    await listOrganizations(read);
    await getOrganization(read, "acme");
    const keys = await listAllKeys(read);
    await listKeys(read, "acme");
    await lastUsesOf(read, keys);
    await readFeedState(read, "acme");
    await keptInLog(read, { ...command, command: "organizations export" }, async () => undefined);
    await assertLedgerOf(read, read, true);
    expect(await lackedErasure(read, "restored")).toBeUndefined();
    let text = "";
    await exportOrganization(read, "acme", async (written) => void (text += written));
    lines = text.trimEnd().split("\n");
    expect(lines.at(-1)).toContain('"end"');
    expect(lines.length).toBeGreaterThan(3);
    await expect(createKey(read, "acme")).rejects.toThrow("not authorized");
    await expect(eraseItem(read, "acme", "a", { sleep })).rejects.toThrow(/./);
  });

  test("keys may create, rotate and revoke keys, and set limits", async () => {
    const keys = operator("keys");
    // For the nearest name, where an organization doesn't exist.
    await listOrganizations(keys);
    await keptInLog(keys, { ...command, command: "keys create" }, async () => undefined);
    const { record } = await createKey(keys, "acme", { name: "ci" });
    await rotateKey(keys, "acme", { name: "ci" });
    await revokeKey(keys, "acme", record.key_id);
    await putOrganization(keys, "acme", { rate: 50 });
    await growListingShards(keys, "acme", 4, sleep);
    await expect(countForErasure(keys, "acme")).rejects.toThrow("not authorized");
  });

  test("erase may import, erase and start feeds over", async () => {
    const erase = operator("erase");
    await listOrganizations(erase);
    await resyncFeed(erase, "acme");
    await readFeedState(erase, "acme");
    await putOrganization(erase, "copy");
    await Array.fromAsync(importOrganization(erase, "copy", linesOf(lines)));
    await keptInLog(erase, { ...command, command: "organizations erase" }, async () => undefined);
    await keptInLedger(erase, "acme", { item: workItemId("acme", "kept") }, () =>
      eraseItem(erase, "acme", "kept", { sleep }),
    );
    // As a restore brings it back.
    const Item = { ...itemKeyOf("acme", "kept"), created_at: isoTime(0) };
    await runtime.dynamodb.send(new PutCommand({ TableName: runtime.environment.WORK_ITEMS_TABLE, Item }));
    await assertLedgerOf(erase, erase, true);
    await reapplyErasures(erase, erase, isoTime(0), { onDamaged: stopAtDamaged });
    await erasePerson(erase, "acme", "ann@example.com", { sleep });
    await countForErasure(erase, "acme");
    await eraseOrganization(erase, "acme", { sleep });
    await expect(getOrganization(runtime, "acme")).rejects.toThrow("there is no organization acme");
  });

  test("has no permission that no command uses", () => {
    for (const [name, actions] of Object.entries(OPERATOR_POLICIES)) {
      const granted = Object.entries<readonly string[]>(actions).flatMap(([resource, list]) =>
        list.map((action) => `${resource} ${action}`),
      );
      const calls = used.get(name as OperatorPolicy);
      expect([name, granted.filter((each) => calls?.has(each) !== true)]).toEqual([name, []]);
    }
  });
});

test("the printed policy names the stack's own tables, bucket and queue", () => {
  const text = JSON.stringify(policyFor("erase", "prod", "eu"));
  expect(text).toContain("arn:aws:dynamodb:eu-west-1:*:table/WorkItems-eu-prod-TablesWorkItems*");
  expect(text).toContain("arn:aws:s3:::workitems-eu-prod-uploads*");
  expect(text).toContain(
    '["sqs:GetQueueAttributes"],"Resource":["arn:aws:sqs:eu-west-1:*:WorkItems-eu-prod-ChangesQueue*"]',
  );
  const { audit: _, ...others } = OPERATOR_POLICIES.read;
  expect(JSON.stringify(others)).not.toMatch(/Put|Delete|Update/);
});

test("no one may change or delete what is kept of commands and erasures", () => {
  const actions = Object.values(OPERATOR_POLICIES).flatMap(({ audit }) => audit);
  expect(new Set(actions)).toEqual(new Set(["GetItem", "Query", "PutItem"]));
  for (const template of [synthesize().us, synthesize({}, { stage: "prod" }).us]) {
    const roles = JSON.stringify(resourcesOf(template, "AWS::IAM::Role"));
    expect(roles).toContain("TablesAccess");
    expect(roles).not.toContain("TablesAudit");
  }
});
