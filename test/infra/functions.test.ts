import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { pages } from "../../functions/pages.ts";
import { allRoutes } from "../../functions/routes.ts";
import { allWorkers, type Trigger } from "../../functions/workers.ts";
import { type Resource as StatefulResource, type ResourceName, resources } from "../../lib/resources.ts";
import { parseEnvironment } from "../../lib/aws/environment.ts";
import type { Permissions, TablePermissions } from "../../lib/aws/permissions.ts";
import { WORKERS_END_WITHIN_MS } from "../../apps/operator/data/jobs-before.ts";
import { idOf, plain, type Resource, resourcesOf, synthesize } from "./synthesized.ts";

const { us } = synthesize();

interface Deployed {
  readonly name: string;
  readonly permissions: Permissions;
  readonly trigger?: Trigger;
}
const expected: readonly Deployed[] = [
  ...allRoutes(),
  ...allWorkers,
  { name: pages.name, permissions: {} },
  { name: "reject-unknown-route", permissions: {} },
];

const logicalIdOf = ({ kind, id }: StatefulResource): string => {
  if (kind === "table") return idOf(us, `Tables${id}`, "AWS::DynamoDB::Table");
  return kind === "bucket" ? idOf(us, `${id}Bucket`, "AWS::S3::Bucket") : idOf(us, id, "AWS::SQS::Queue");
};
const LOGICAL_ID = Object.fromEntries(
  Object.entries(resources).map(([name, resource]) => [name, logicalIdOf(resource)]),
) as Record<keyof typeof resources, string>;

const functions = new Map(
  resourcesOf(us, "AWS::Lambda::Function").map(([id, properties]) => [
    String(properties["FunctionName"]).replace("WorkItems-us-", ""),
    { id, properties },
  ]),
);
const deployed = (name: string): { readonly id: string; readonly properties: Resource["Properties"] } => {
  const found = functions.get(name);
  if (found === undefined) throw new Error(`${name} is not in the template`);
  return found;
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: unknown;
}
const list = (value: string | readonly string[]): readonly string[] => (typeof value === "string" ? [value] : value);

/** One line for each permission: `dynamodb:Query on TablesWorkItems….Arn where {…}`. */
const permission = (action: string, resource: string, condition?: unknown): string =>
  `${action} on ${resource}${condition === undefined ? "" : ` where ${JSON.stringify(condition)}`}`;

const statementsOf = (name: string): readonly Statement[] => {
  const [roleId] = String(plain(deployed(name).properties["Role"])).split(".");
  const role = us.Resources[roleId ?? ""]?.Properties ?? {};
  // The role has only its inline policy: no managed ones, and no other policy names the role.
  expect(role).not.toHaveProperty("ManagedPolicyArns");
  for (const type of ["AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"]) {
    expect(JSON.stringify(resourcesOf(us, type))).not.toContain(roleId);
  }
  const policies = plain(role["Policies"]) as readonly {
    readonly PolicyDocument: { readonly Statement: Statement[] };
  }[];
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
};

const permissionsOf = (name: string): readonly string[] =>
  statementsOf(name)
    .flatMap(({ Effect, Action, Resource, Condition }) => {
      expect(Effect).toBe("Allow");
      return list(Action).flatMap((action) =>
        list(Resource).map((resource) => permission(action, resource, Condition)),
      );
    })
    .toSorted();

const queuesThatTrigger = ({ trigger }: Deployed): readonly string[] =>
  trigger?.kind === "queue" ? [LOGICAL_ID[trigger.queue]] : [];

/** The permissions that a function's declaration on one resource results in. */
const permittedOn = (name: ResourceName, permissions: Permissions): readonly string[] => {
  const resource: StatefulResource = resources[name];
  const arn = `${LOGICAL_ID[name]}.Arn`;
  const {
    actions = [],
    partitions,
    writes = partitions,
    indexes = [],
  } = (permissions[name] ?? {}) as Partial<TablePermissions>;
  if (resource.kind === "queue") return actions.map((action) => permission(`sqs:${action}`, arn));
  if (resource.kind === "bucket") {
    const objects = `${arn}/${resource.prefix}*`;
    return (actions as readonly string[]).map((action) =>
      permission(`s3:${action}`, action === "ListBucket" ? arn : objects),
    );
  }
  const leading = (kinds: typeof partitions) =>
    kinds && { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": kinds.map((kind) => `${kind}#*`) } };
  return actions.flatMap((action) =>
    [arn, ...indexes.map((index) => `${arn}/index/${index}`)].map((each) =>
      permission(`dynamodb:${action}`, each, leading(/Get|Query|Check/.test(action) ? partitions : writes)),
    ),
  );
};

/** The permissions by which Lambda reads a table's stream for a function. */
const permittedOnStream = ({ trigger }: Deployed): readonly string[] => {
  if (trigger?.kind !== "stream") return [];
  const actions = ["DescribeStream", "GetRecords", "GetShardIterator"];
  return [
    ...actions.map((action) => permission(`dynamodb:${action}`, `${LOGICAL_ID[trigger.table]}.Arn/stream/*`)),
    permission("dynamodb:ListStreams", "*"),
  ];
};

/** The permissions that a function's declaration results in. */
const permitted = (row: Deployed): readonly string[] => {
  const logs = resourcesOf(us, "AWS::Logs::LogGroup").find(
    ([, { LogGroupName }]) => LogGroupName === `/aws/lambda/WorkItems-us-${row.name}`,
  );
  return [
    ...(Object.keys(resources) as ResourceName[]).flatMap((name) => permittedOn(name, row.permissions)),
    ...queuesThatTrigger(row).flatMap((queue) =>
      ["DeleteMessage", "GetQueueAttributes", "ReceiveMessage"].map((action) =>
        permission(`sqs:${action}`, `${queue}.Arn`),
      ),
    ),
    ...permittedOnStream(row),
    ...["logs:CreateLogStream", "logs:PutLogEvents"].map((action) => permission(action, `${logs?.[0]}.Arn`)),
    ...["xray:PutTelemetryRecords", "xray:PutTraceSegments"].map((action) => permission(action, "*")),
  ].toSorted();
};

test("deploys every route, every worker and the fallback, and nothing else", () => {
  expect([...functions.keys()].toSorted()).toEqual(expected.map(({ name }) => name).toSorted());
});

describe.each(expected)("$name", (row) => {
  const { properties } = deployed(row.name);
  const { Variables: variables } = plain(properties["Environment"]) as { Variables: Record<string, string> };

  test("has exactly the declared permissions", () => {
    expect(permissionsOf(row.name)).toEqual(permitted(row));
  });

  test("has a role that Lambda assumes for functions of this account only", () => {
    const [roleId = ""] = String(plain(properties["Role"])).split(".");
    const { AssumeRolePolicyDocument: trust } = plain(us.Resources[roleId]?.Properties) as {
      AssumeRolePolicyDocument: { Statement: object[] };
    };
    expect(trust.Statement).toEqual([
      {
        Effect: "Allow",
        Action: "sts:AssumeRole",
        Principal: { Service: "lambda.amazonaws.com" },
        Condition: { StringEquals: { "aws:SourceAccount": "AWS::AccountId" } },
      },
    ]);
  });

  test("gets the variables that its environment schema requires, and no others", () => {
    const named = (Object.keys(row.permissions) as (keyof Permissions)[]).map((name) => [
      resources[name].variable,
      LOGICAL_ID[name],
    ]);
    const heapMb = Math.floor(Number(properties["MemorySize"]) * 0.9);
    expect(variables).toEqual({
      REGION_CODE: "us",
      NODE_OPTIONS: `--max-semi-space-size=16 --max-old-space-size=${heapMb}`,
      VERSION: manifest.version,
      POWERTOOLS_SERVICE_NAME: "WorkItems-us",
      POWERTOOLS_METRICS_NAMESPACE: "WorkItems",
      ...Object.fromEntries(named),
      ...(row.name === pages.name && {
        BUCKET_ORIGIN: `https://${LOGICAL_ID.uploads}.RegionalDomainName`,
      }),
    });
    expect(parseEnvironment(row.permissions, variables)).toMatchObject(Object.fromEntries(named));
  });

  test("runs on Node 24 and arm64, is traced and logs JSON that expires", () => {
    expect(properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Handler: "index.handler",
      TracingConfig: { Mode: "Active" },
      LoggingConfig: { LogFormat: "JSON" },
    });
    const { LogGroup: logGroup } = plain(properties["LoggingConfig"]) as { LogGroup: string };
    expect(us.Resources[logGroup]?.Properties).toMatchObject({ RetentionInDays: 7 });
  });
});

/** Every policy statement anywhere in a value, resource policies included. */
const statementsIn = (value: unknown): readonly Statement[] => {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(statementsIn);
  return "Effect" in value && "Action" in value ? [value as unknown as Statement, ...inner] : inner;
};

test("no policy in the stack allows an action by a wildcard, or a scan", () => {
  // The policy of a key must let its account administer it: without that, nobody could.
  const governed = Object.values(us.Resources).filter(({ Type }) => Type !== "AWS::KMS::Key");
  const allowed = statementsIn(governed).filter(({ Effect }) => Effect === "Allow");
  expect(allowed.length).toBeGreaterThan(expected.length);
  for (const { Action } of allowed) {
    for (const action of list(Action)) expect(action).not.toMatch(/\*|:Scan$|:BatchWriteItem$/);
  }
});

test("functions never write keys or organizations, and only those behind a key write limits", () => {
  for (const row of expected) {
    const lines = permissionsOf(row.name).filter((line) => /(Put|Update|Delete|PartiQL)/.test(line));
    expect(lines.filter((line) => line.includes(LOGICAL_ID.access))).toEqual([]);
    const limited = lines.some((line) => line.includes(LOGICAL_ID.limits));
    expect(limited).toBe(allRoutes().some((route) => route.name === row.name && route.public !== true));
  }
});

test("only functions behind a key write a webhook's settings and secrets", () => {
  for (const { name } of expected.filter(({ trigger }) => trigger !== undefined)) {
    const lines = permissionsOf(name).filter((line) => /(Put|Update|Delete|PartiQL)/.test(line));
    const onWebhooks = lines.filter((line) => line.includes(LOGICAL_ID.webhooks));
    expect([name, onWebhooks.filter((line) => !line.includes('LeadingKeys":["WEBHOOK_STATE#*"]'))]).toEqual([name, []]);
  }
  expect(permissionsOf("deliver-webhooks").join()).toMatch(/PutItem on TablesWebhooks/);
});

test("API functions end before the gateway gives up", () => {
  for (const { name } of allRoutes()) expect(deployed(name).properties["Timeout"]).toBeLessThan(29);
});

test("workers end before an erasure looks for the last time", () => {
  for (const { name } of allWorkers) {
    expect(Number(deployed(name).properties["Timeout"]) * 1000).toBeLessThan(WORKERS_END_WITHIN_MS);
  }
});

describe("event sources", () => {
  const all = resourcesOf(us, "AWS::Lambda::EventSourceMapping").map(([, mapping]) => plain(mapping)) as {
    readonly EventSourceArn: string;
  }[];
  const isOfStream = ({ EventSourceArn: arn }: (typeof all)[number]) => arn.endsWith(".StreamArn");
  const mappings = all.filter((mapping) => !isOfStream(mapping));

  test("send as many messages at a time as a function handles at once, to its number of instances", () => {
    const wanted = allWorkers.flatMap((worker) => {
      const { trigger } = worker;
      const most = trigger.kind === "queue" ? trigger.maximumConcurrency : 2;
      const batchSize = "batchSize" in trigger ? trigger.batchSize : 1;
      return queuesThatTrigger(worker).map((queue, index) => ({
        FunctionName: deployed(worker.name).id,
        EventSourceArn: `${queue}.Arn`,
        BatchSize: batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        // Of a second queue few batches are handled at a time.
        ScalingConfig: { MaximumConcurrency: index === 0 ? most : 2 },
      }));
    });
    expect(mappings).toHaveLength(wanted.length);
    expect(mappings).toEqual(expect.arrayContaining(wanted.map((mapping) => expect.objectContaining(mapping))));
  });

  test("read another stream if the table was restored under its name, with the same policy", () => {
    const stream = "arn:aws:dynamodb:us-east-1:111122223333:table/items/stream/2026-11-27T00:00:00.000";
    const { us: moved } = synthesize({ regions: { us: { stream } } });
    const arns = resourcesOf(moved, "AWS::Lambda::EventSourceMapping").map(([, { EventSourceArn }]) => EventSourceArn);
    expect(arns.filter((arn) => typeof arn === "string")).toEqual([stream]);
    expect(resourcesOf(moved, "AWS::IAM::Role")).toEqual(resourcesOf(us, "AWS::IAM::Role"));
  });

  test("send the stream's records in order, from the oldest on, until they are done with", () => {
    expect(all.filter(isOfStream)).toEqual([
      {
        FunctionName: deployed("record-changes").id,
        EventSourceArn: `${LOGICAL_ID.workItems}.StreamArn`,
        StartingPosition: "TRIM_HORIZON",
        BatchSize: 1000,
        MaximumBatchingWindowInSeconds: 1,
        ParallelizationFactor: 1,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        FilterCriteria: {
          Filters: [
            { pk: { S: [{ prefix: "ITEM#" }] } },
            { pk: { S: [{ prefix: "HEARTBEAT#" }] } },
            { pk: { S: [{ prefix: "UPLOAD#" }] }, sk: { S: ["#JOB"] } },
          ].map((Keys) => ({ Pattern: JSON.stringify({ dynamodb: { Keys } }) })),
        },
        Tags: expect.any(Array),
      },
    ]);
    // An erasure waits for twice as long as a worker that appends to a change log may be frozen.
    for (const name of ["record-changes", "append-changes"]) {
      expect(deployed(name).properties["Timeout"]).toBeLessThanOrEqual(60);
    }
  });

  test("may loop only where a function feeds its own queue", () => {
    for (const { name, permissions, trigger } of expected) {
      const own = trigger?.kind === "queue" ? permissions[trigger.queue]?.actions : undefined;
      const feedsItself = own?.includes("SendMessage") === true;
      expect(deployed(name).properties["RecursiveLoop"]).toBe(feedsItself ? "Allow" : undefined);
    }
  });

  test("start scheduled workers by rule, each allowed to start that function alone", () => {
    const scheduled = allWorkers.filter(({ trigger }) => trigger.kind === "schedule");
    const rules = resourcesOf(us, "AWS::Events::Rule").map(([, rule]) => plain(rule));
    expect(rules).toHaveLength(scheduled.length);
    for (const { name, trigger } of scheduled) {
      const { id } = deployed(name);
      const minutes = trigger.kind === "schedule" ? trigger.everyMinutes : 0;
      const rate = minutes === 1 ? "rate(1 minute)" : `rate(${minutes} minutes)`;
      expect(rules).toContainEqual(
        expect.objectContaining({
          ScheduleExpression: rate,
          Targets: [expect.objectContaining({ Arn: `${id}.Arn` })],
        }),
      );
    }
  });

  test("leave direct workers to IAM: nothing else may start them", () => {
    const permissions = JSON.stringify(resourcesOf(us, "AWS::Lambda::Permission"));
    for (const { name } of allWorkers.filter(({ trigger }) => trigger.kind === "direct")) {
      expect(permissions).not.toContain(deployed(name).id);
    }
  });
});
