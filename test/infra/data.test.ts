import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { plain, type Resource, resourceOf, resourcesOf, synthesize, type Template } from "./synthesized.ts";

const { us, eu } = synthesize();

/** If one of these properties changes, CloudFormation replaces the resource, or its data becomes inaccessible. */
const REPLACEMENT = {
  "AWS::DynamoDB::Table": ["TableName", "KeySchema", "GlobalSecondaryIndexes"],
  "AWS::S3::Bucket": ["BucketName", "BucketNamePrefix", "ObjectLockEnabled"],
  "AWS::SQS::Queue": ["QueueName", "FifoQueue"],
  // It holds no data, but callers know its address.
  "AWS::ApiGateway::RestApi": [],
} as const satisfies Record<string, readonly string[]>;

const isStateful = (type: string): type is keyof typeof REPLACEMENT => type in REPLACEMENT;

const statefulOf = (template: Template) =>
  Object.fromEntries(
    Object.entries(template.Resources).flatMap(([id, { Type, Properties, DeletionPolicy }]: [string, Resource]) => {
      if (!isStateful(Type)) return [];
      const kept = REPLACEMENT[Type].filter((name) => name in Properties).map((name) => [name, Properties[name]]);
      return [[id, { Type, ...(DeletionPolicy && { DeletionPolicy }), ...Object.fromEntries(kept) }]];
    }),
  );

describe("what holds state", () => {
  const deployed: unknown = JSON.parse(readFileSync(new URL("stateful-resources.json", import.meta.url), "utf8"));

  test.each([
    ["us", us],
    ["eu", eu],
  ])("is neither replaced nor removed in %s", (_, template) => {
    expect(statefulOf(template)).toEqual(deployed);
  });

  test("is the same in every stage", () => {
    expect(statefulOf(synthesize({}, { stage: "prod" }).us)).toEqual(deployed);
  });
});

describe("tables", () => {
  test.each(resourcesOf(us, "AWS::DynamoDB::Table"))(
    "%s is recoverable, protected and encrypted, and expires records unless it is the log of operators",
    (id, table) => {
      expect(us.Resources[id]).toMatchObject({ DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" });
      expect(table).toMatchObject({
        BillingMode: "PAY_PER_REQUEST",
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
      });
      const expires = { AttributeName: "expires_at", Enabled: true };
      expect(table["TimeToLiveSpecification"]).toEqual(id.startsWith("TablesAudit") ? undefined : expires);
    },
  );
});

test("a protected stage has a trail of all writes to the log of operators, in a bucket that is kept", () => {
  const { us: guarded } = synthesize({ terminationProtection: true, customerKey: true });
  const trail = plain(resourceOf(guarded, "AWS::CloudTrail::Trail"));
  const [audit] = resourcesOf(guarded, "AWS::DynamoDB::Table").find(([id]) => id.startsWith("TablesAudit"))!;
  const [bucket] = resourcesOf(guarded, "AWS::S3::Bucket").find(([id]) => id.startsWith("AuditTrail"))!;
  expect(trail).toMatchObject({
    IsLogging: true,
    EnableLogFileValidation: true,
    S3BucketName: bucket,
    AdvancedEventSelectors: [
      {
        FieldSelectors: [
          { Field: "eventCategory", Equals: ["Data"] },
          { Field: "readOnly", Equals: ["false"] },
          { Field: "resources.type", Equals: ["AWS::DynamoDB::Table"] },
          { Field: "resources.ARN", Equals: [`${audit}.Arn`] },
        ],
      },
    ],
  });
  expect(guarded.Resources[bucket]).toMatchObject({ DeletionPolicy: "RetainExceptOnCreate" });
  const key = JSON.stringify(resourcesOf(guarded, "AWS::KMS::Key"));
  expect(key).toContain('{"Service":"cloudtrail.amazonaws.com"}');
  expect(JSON.stringify(guarded.Resources[bucket])).not.toContain('"BucketKeyEnabled":true');
  expect(resourcesOf(us, "AWS::CloudTrail::Trail")).toEqual([]);
});

test("the ledger of erasures can have a replica", () => {
  const views = resourcesOf(us, "AWS::DynamoDB::Table").map(([id, { StreamSpecification }]) => [
    id.replace(/[0-9A-F]{8}$/, ""),
    StreamSpecification,
  ]);
  expect(views.filter(([, stream]) => stream !== undefined)).toEqual([
    ["TablesWorkItems", { StreamViewType: "KEYS_ONLY" }],
    ["TablesAudit", { StreamViewType: "NEW_AND_OLD_IMAGES" }],
  ]);
});

describe("the upload bucket", () => {
  const bucket = resourceOf(us, "AWS::S3::Bucket");

  test("is private, encrypted and kept", () => {
    expect(bucket).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
      },
    });
  });

  test("expires uploads after 35 days and unfinished ones after a day", () => {
    expect(bucket).toMatchObject({
      LifecycleConfiguration: {
        Rules: expect.arrayContaining([
          { ExpirationInDays: 35, Status: "Enabled" },
          { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: "Enabled" },
        ]),
      },
    });
  });

  test("accepts forms from the API's own pages and no other", () => {
    const origin = ["https://", { Ref: expect.stringMatching(/^ApiRestApi/) }, ".execute-api.us-east-1.amazonaws.com"];
    expect(bucket).toMatchObject({
      CorsConfiguration: {
        CorsRules: [{ AllowedOrigins: [{ "Fn::Join": ["", origin] }], AllowedMethods: ["POST", "GET"] }],
      },
    });
  });

  test("notifies the split queue of source files only, and has permission before it is created", () => {
    expect(bucket).toMatchObject({
      NotificationConfiguration: {
        QueueConfigurations: [
          {
            Event: "s3:ObjectCreated:*",
            Queue: { "Fn::GetAtt": [expect.stringMatching(/^SplitQueue/), "Arn"] },
            Filter: {
              S3Key: {
                Rules: [
                  { Name: "prefix", Value: "uploads/" },
                  { Name: "suffix", Value: "source.csv" },
                ],
              },
            },
          },
        ],
      },
    });
    const made = Object.values(us.Resources).find(({ Type }) => Type === "AWS::S3::Bucket");
    expect(made).toHaveProperty("DependsOn", expect.arrayContaining([expect.stringMatching(/^SplitQueuePolicy/)]));
  });
});

describe("queues", () => {
  const queues = resourcesOf(us, "AWS::SQS::Queue");
  const named = (name: RegExp) => queues.filter(([id]) => name.test(id)).map(([, queue]) => queue);
  const deadLetters = named(/DeadLetters/);
  const changes = named(/Changes|Webhooks/);
  const FOURTEEN_DAYS = { MessageRetentionPeriod: 14 * 24 * 60 * 60 };

  test("are encrypted", () => {
    for (const [, queue] of queues) expect(queue).toMatchObject({ SqsManagedSseEnabled: true });
  });

  test("have a dead-letter queue each, which keeps messages for 14 days, but for those of changes and webhooks", () => {
    const targets = queues.flatMap(([, queue]) => queue["RedrivePolicy"] ?? []).map((each) => JSON.stringify(each));
    expect([queues.length, targets.length, new Set(targets).size]).toEqual([6, 2, 2]);
    expect(deadLetters).toHaveLength(2);
    for (const queue of deadLetters) expect(queue).toMatchObject(FOURTEEN_DAYS);
  });

  test("keep changes and news of them for 14 days, and take them apart by organization", () => {
    expect(changes).toHaveLength(2);
    for (const queue of changes) {
      expect(queue).toMatchObject(FOURTEEN_DAYS);
      expect(queue).not.toHaveProperty("RedrivePolicy");
    }
    expect(named(/^ChangesQueue/)).toEqual([
      expect.objectContaining({
        FifoQueue: true,
        DeduplicationScope: "messageGroup",
        FifoThroughputLimit: "perMessageGroupId",
      }),
    ]);
  });

  test("hide a message for at least six times as long as its function may run", () => {
    const mappings = resourcesOf(us, "AWS::Lambda::EventSourceMapping").flatMap(([, mapping]) => {
      const { "Fn::GetAtt": [queue, attribute] = [] } = mapping["EventSourceArn"] as { "Fn::GetAtt"?: string[] };
      const { Ref: id } = mapping["FunctionName"] as { Ref: string };
      const timeout = Number(us.Resources[id]?.Properties["Timeout"]);
      return attribute === "Arn" ? [{ queue: us.Resources[queue ?? ""]?.Properties, timeout }] : [];
    });
    // Nothing takes dead letters.
    expect(mappings).toHaveLength(queues.length - deadLetters.length);
    for (const { queue, timeout } of mappings) {
      expect(queue?.["VisibilityTimeout"]).toBeGreaterThanOrEqual(6 * timeout);
    }
  });
});

test("bucket, queues and alarm topic reject requests without TLS", () => {
  const policies = ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"].flatMap((type) =>
    resourcesOf(us, type),
  );
  expect(policies).toHaveLength(9);
  for (const [, policy] of policies) {
    expect(policy).toMatchObject({
      PolicyDocument: {
        Statement: expect.arrayContaining([
          expect.objectContaining({ Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }),
        ]),
      },
    });
  }
});
