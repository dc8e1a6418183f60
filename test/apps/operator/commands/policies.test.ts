import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { workItemId } from "../../../../lib/identity.ts";
import { itemKeyOf } from "../../../../lib/work-items/work-item-record.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { PROJECT_ROOT } from "../../../../infra/build.ts";
import {
  getOrganization,
  growListingShards,
  listOrganizations,
  putOrganization,
} from "../../../../apps/operator/data/administration.ts";
import { pauseCommand, resumeCommand } from "../../../../apps/operator/commands/pause.ts";
import { repairOrganization } from "../../../../apps/operator/data/damaged-access.ts";
import { listedKeyKey, organizationRecordKey } from "../../../../lib/organizations/access-store.ts";
import { readFeedState, resyncFeed } from "../../../../apps/operator/data/feed-state.ts";
import { keptInLog } from "../../../../apps/operator/data/command-log.ts";
import { identifyLedger, keptInLedger } from "../../../../apps/operator/data/erasure-ledger.ts";
import { assertLedgerOf, missingErasure, reapplyErasures } from "../../../../apps/operator/data/reapply-erasures.ts";
import { eraseItem } from "../../../../apps/operator/data/erase-item.ts";
import { countForErasure, eraseOrganization } from "../../../../apps/operator/data/erase-organization.ts";
import { erasePerson } from "../../../../apps/operator/data/erase-person.ts";
import { exportOrganization, exportSource } from "../../../../apps/operator/data/export-organization.ts";
import { importOrganization } from "../../../../apps/operator/data/import-organization.ts";
import {
  createKey,
  lastUsesOf,
  listAllKeys,
  listKeys,
  revokeKey,
  rotateKey,
} from "../../../../apps/operator/data/key-management.ts";
import type { Permissions } from "../../../../lib/aws/permissions.ts";
import { type ResourceName, resources } from "../../../../lib/resources.ts";
import { isoTime } from "../../../../lib/clock.ts";
import { stopAtDamaged } from "../../../../lib/store/decode-record.ts";
import { createTestClock } from "../../../support/clock.ts";
import { createCustomer, fill, operatorOf, overwrite, putObject } from "../../../support/customer-data.ts";
import { restrictedRuntime } from "../../../infra/restricted-runtime.ts";
import { EVERY_SETTING } from "../../../infra/every-setting.ts";
import { resourcesOf, synthesize } from "../../../infra/synthesized.ts";
import { startDeployedRegion } from "../../../support/deployed-region.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";

const POLICIES = ["read", "keys", "erase"] as const;
/** The policy by which CloudFormation creates the stack. */
const DEPLOY = "deploy";
/** That of people who stop a region and let it go on. */
const PAUSE = "pause";
type Policy = (typeof POLICIES)[number];

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
  readonly Condition?: { readonly [test: string]: { readonly [key: string]: unknown } };
}

/** The statements of a policy in `docs/policies`: the first is about the stack, the others about a resource each. */
const statementsOf = (name: Policy | typeof DEPLOY | typeof PAUSE): readonly [Statement, ...Statement[]] => {
  const text = readFileSync(join(PROJECT_ROOT, `docs/policies/${name}.json`), "utf8");
  return (JSON.parse(text) as { Statement: [Statement, ...Statement[]] }).Statement;
};

const resourceNames = new Map(Object.entries(resources).map(([name, { id }]) => [id as string, name]));

/** What a policy allows: on which resource, which actions, and in which partitions. */
const grantsOf = (name: Policy) => {
  const [, ...statements] = statementsOf(name);
  return statements.map(({ Sid: id, Action: actions, Condition: condition }) => ({
    resource: resourceNames.get(id) ?? id,
    actions: actions.map((action) => action.replace(/^(?:dynamodb|s3|sqs):/, "")),
    partitions: condition?.["ForAllValues:StringLike"]?.["dynamodb:LeadingKeys"] as readonly string[] | undefined,
  }));
};

/** The actions that a policy allows, by the name of the resource. */
const actionsOf = (name: Policy): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(grantsOf(name).map(({ resource, actions }) => [resource, actions]));

const clock = createTestClock();
const sleep = async (milliseconds: number): Promise<void> => clock.advance(milliseconds);
const used = new Map<Policy, Set<string>>();
let runtime: TestRuntime;
let lines: string[] = [];
const command = { by: "arn:aws:iam::1:user/ann", organization: "acme", options: {} };

async function* linesOf(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

/** The operator, with no more permissions than a policy has. */
const operator = (name: Policy) => {
  const calls = used.get(name) ?? new Set();
  used.set(name, calls);
  const permissions = Object.fromEntries(
    Object.entries(actionsOf(name)).map(([resource, actions]) => [
      resource,
      { actions, ...(resource === "workItems" && { indexes: Object.keys(resources.workItems.indexes) }) },
    ]),
  ) as unknown as Permissions;
  return operatorOf(
    restrictedRuntime(runtime, permissions, ({ resource, action, key = "" }) => {
      calls.add(`${resource} ${action}`);
      const grant = grantsOf(name).find((each) => each.resource === resource && each.actions.includes(action));
      if (grant?.partitions?.some((each) => key.startsWith(each.replace("*", ""))) !== false) return;
      throw Object.assign(new Error(`not authorized: ${key}`), { name: "AccessDeniedException" });
    }),
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
    expect(await exportSource(read, "acme")).toMatchObject({ organization: "acme" });
    // Neither the ledger nor its secret.
    await expect(missingErasure(read, read)).rejects.toThrow("not authorized");
    await expect(identifyLedger(read)).rejects.toThrow("not authorized");
    let text = "";
    await exportOrganization(read, "acme", async (written) => void (text += written));
    lines = text.trimEnd().split("\n");
    expect(lines.at(-1)).toContain('"end"');
    expect(lines.length).toBeGreaterThan(3);
    await expect(createKey(read, "acme")).rejects.toThrow("not authorized");
    await expect(eraseItem(read, "acme", "a", { sleep })).rejects.toThrow(/./);
  });

  test("keys may create, rotate and revoke keys, set limits, and repair both", async () => {
    const keys = operator("keys");
    // For the nearest name, where an organization doesn't exist.
    await listOrganizations(keys);
    await keptInLog(keys, { ...command, command: "keys create" }, async () => undefined);
    await expect(identifyLedger(keys)).rejects.toThrow("not authorized");
    const { record } = await createKey(keys, "acme", { name: "ci" });
    await rotateKey(keys, "acme", { name: "ci" });
    await revokeKey(keys, "acme", record.key_id);
    await putOrganization(keys, "acme", { rate: 50 });
    await growListingShards(keys, "acme", 4, sleep);
    await overwrite(runtime, "ACCESS_TABLE", organizationRecordKey("acme"), "rate");
    await overwrite(runtime, "ACCESS_TABLE", listedKeyKey(record), "name", 7);
    expect(await repairOrganization(keys, "acme", { rate: 60 })).toMatchObject({ keys: [record.key_id], lost: [] });
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
    expect(await missingErasure(erase, erase)).toBeDefined();
    await reapplyErasures(erase, erase, isoTime(0), { onDamaged: stopAtDamaged });
    await erasePerson(erase, "acme", "ann@example.com", { sleep });
    await countForErasure(erase, "acme");
    await eraseOrganization(erase, "acme", { sleep });
    await expect(getOrganization(runtime, "acme")).rejects.toThrow("there is no organization acme");
  });

  test("has no permission that no command uses", () => {
    for (const name of POLICIES) {
      const granted = Object.entries(actionsOf(name)).flatMap(([resource, list]) =>
        list.map((action) => `${resource} ${action}`),
      );
      const calls = used.get(name);
      expect([name, granted.filter((each) => calls?.has(each) !== true)]).toEqual([name, []]);
    }
  });
});

test.each(POLICIES)("the policy %s names stack, tables, bucket and queue as they are deployed", (name) => {
  const stack = "WorkItems-<region>-<stage>";
  const logicalIds = Object.keys(synthesize({}, { stage: "prod" }).us.Resources);
  const [ofStack, ...statements] = statementsOf(name);
  expect(ofStack).toMatchObject({
    Action: ["cloudformation:DescribeStacks"],
    Resource: [`arn:aws:cloudformation:<aws-region>:*:stack/${stack}/*`],
  });
  for (const { Sid: id, Effect: effect, Action: actions, Resource: arns } of statements) {
    const { kind } = resources[resourceNames.get(id) as ResourceName];
    const table = `arn:aws:dynamodb:<aws-region>:*:table/${stack}-Tables${id}*`;
    const bucket = `arn:aws:s3:::${`${stack}-${id}`.toLowerCase()}*`;
    const expected = {
      table: [table, `${table}/index/*`],
      bucket: [bucket, `${bucket}/*`],
      queue: [`arn:aws:sqs:<aws-region>:*:${stack}-${id}*`],
    };
    expect([effect, arns]).toEqual(["Allow", expected[kind]]);
    const service = { table: "dynamodb", bucket: "s3", queue: "sqs" }[kind];
    expect(actions.filter((action) => !action.startsWith(`${service}:`))).toEqual([]);
    // CloudFormation's names are those of the template with a suffix.
    const logicalId = new RegExp(`^${kind === "table" ? "Tables" : ""}${id}(?:Bucket)?[0-9A-F]{8}$`);
    expect(logicalIds.filter((each) => logicalId.test(each))).toHaveLength(1);
  }
});

test("no one may delete what is kept of commands and erasures, and only who may erase can write to the ledger", () => {
  const ofAudit = (name: Policy) => grantsOf(name).find(({ resource }) => resource === "audit");
  const own = { resource: "audit", actions: ["PutItem"], partitions: ["COMMANDS#*"] };
  expect([ofAudit("read"), ofAudit("keys")]).toEqual([own, own]);
  expect(ofAudit("erase")?.actions).toEqual(["GetItem", "Query", "PutItem"]);
  const { audit: _, ...others } = actionsOf("read");
  expect(JSON.stringify(others)).not.toMatch(/Put|Delete|Update/);
  for (const template of [synthesize().us, synthesize({}, { stage: "prod" }).us]) {
    const roles = JSON.stringify(resourcesOf(template, "AWS::IAM::Role"));
    expect(roles).toContain("TablesAccess");
    expect(roles).not.toContain("TablesAudit");
  }
});

test("the policy pause allows what both commands call, on rules and functions of one stack, and nothing else", async () => {
  const { terminal, actions } = await startDeployedRegion();
  for (const run of [pauseCommand, resumeCommand]) {
    expect(await run(Object.assign(terminal, { args: ["us"] }))).toBe(0);
  }
  const statements = statementsOf(PAUSE);
  expect(new Set(statements.flatMap(({ Action: allowed }) => allowed))).toEqual(actions);
  const stack = "WorkItems-<region>-<stage>";
  const ofFunctions = `arn:aws:lambda:<aws-region>:*:function:${stack}-*`;
  const [ofStack, rules, eventSources, functions] = statements;
  expect([ofStack, rules, functions].map((each) => each?.Resource)).toEqual([
    [`arn:aws:cloudformation:<aws-region>:*:stack/${stack}/*`],
    [`arn:aws:events:<aws-region>:*:rule/${stack}-*`],
    [ofFunctions],
  ]);
  expect(eventSources?.Condition).toEqual({ ArnLike: { "lambda:FunctionArn": ofFunctions } });
});

describe("the policy deploy", () => {
  const statements = statementsOf(DEPLOY);
  const { us } = synthesize(EVERY_SETTING);

  test("allows the services of all types of resources, and what vaults, parameters and certificates need", () => {
    const services = Object.values(us.Resources).map(({ Type }) => Type.split("::")[1]?.toLowerCase());
    const needed = [...services, "backup-storage", "ssm", "acm"];
    const allowed = statements.flatMap(({ Action: actions }) => actions.map((action) => action.split(":")[0]));
    expect(new Set(allowed)).toEqual(new Set(needed));
    expect(statements[0].Action).toContain("backup-storage:MountCapsule");
  });

  test("allows only roles whose names begin with the stack's, and no other permission of IAM", () => {
    const ofRoles = statements.filter(({ Action: actions }) => actions.some((action) => action.startsWith("iam:")));
    expect(ofRoles.map(({ Action: actions }) => actions)).toEqual([["iam:*Role*"], ["iam:CreateServiceLinkedRole"]]);
    expect(ofRoles.flatMap(({ Resource: arns }) => arns)).toEqual([
      "arn:aws:iam::*:role/WorkItems-<region>-*",
      expect.stringMatching(/:role\/aws-service-role\/[a-z.]+\/\*$/),
      expect.stringMatching(/:role\/aws-service-role\/[a-z.]+\/\*$/),
    ]);
    // CloudFormation gives the others a name that begins with the stack's.
    expect(resourcesOf(us, "AWS::IAM::Role").filter(([, { RoleName: name }]) => name !== undefined)).toEqual([]);
  });
});
