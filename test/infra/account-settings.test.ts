import { describe, expect, test } from "vitest";
import { plain, type Resource, resourceOf, resourcesOf, synthesize, type Template } from "./synthesized.ts";
import { EVERY_SETTING } from "./every-setting.ts";

const atOnce = synthesize().us;
const everything = synthesize(EVERY_SETTING).us;

const count = (template: Template, type: string): number => resourcesOf(template, type).length;
const entries = (template: Template): [string, Resource][] => Object.entries(template.Resources);

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html */
const LIMITS = { Resources: 500, Parameters: 200, Outputs: 200 };
/** Of CloudFormation's limits. Decision 29 says what to do when a stack has more. */
const ROOM = 0.9;

test.each(Object.entries(LIMITS))("a stack with every setting has room for more %s", (section, most) => {
  expect(Object.keys(everything[section as keyof Template]).length).toBeLessThanOrEqual(ROOM * most);
});

describe("settings for an account", () => {
  const sources = (template: Template) =>
    resourcesOf(template, "AWS::Lambda::EventSourceMapping").map(
      ([, properties]) =>
        properties as {
          ScalingConfig?: { MaximumConcurrency: number };
          MaximumBatchingWindowInSeconds?: number;
          ParallelizationFactor?: number;
        },
    );
  const mappings = (template: Template) =>
    sources(template).flatMap(({ ScalingConfig: scaling }) => scaling?.MaximumConcurrency ?? []);

  test("a small account gives each queue two concurrent executions, the least that Lambda allows", () => {
    expect(mappings(synthesize({ smallAccount: true }).us)).toEqual([2, 2, 2, 2]);
    expect(mappings(atOnce).reduce((sum, most) => sum + most, 0)).toBeGreaterThan(10);
  });

  test("a small account starts the readers of the stream, whose number has no limit, ten times less often", () => {
    const windows = (template: Template) =>
      sources(template).flatMap(({ ParallelizationFactor: factor, MaximumBatchingWindowInSeconds: seconds }) =>
        factor === undefined ? [] : [{ factor, seconds }],
      );
    expect(windows(atOnce)).toEqual([{ factor: 1, seconds: 1 }]);
    expect(windows(synthesize({ smallAccount: true }).us)).toEqual([{ factor: 1, seconds: 10 }]);
  });

  test("concurrency is reserved for each function of a class, and workers' queues have a limit", () => {
    const reserved = (template: Template) =>
      Object.fromEntries(
        resourcesOf(template, "AWS::Lambda::Function").map(([, properties]) => [
          String(plain(properties["FunctionName"])).replace("WorkItems-us-", ""),
          properties["ReservedConcurrentExecutions"],
        ]),
      );
    expect(reserved(everything)).toMatchObject({
      "list-work-items": 100,
      "create-work-item": 50,
      "upload-work-items": 10,
      "get-page": 5,
      "get-health": 5,
    });
    expect(reserved(everything)["apply-upload-chunk"]).toBeUndefined();
    expect(mappings(everything)).toContain(20);
    expect(Object.values(reserved(atOnce)).every((each) => each === undefined)).toBe(true);
  });

  test("a key of the account encrypts tables, bucket, queues and all logs; topics have another, so that alarms arrive without it", () => {
    const [keyId] = resourcesOf(everything, "AWS::KMS::Key").find(([id]) => id.startsWith("DataKey"))!;
    expect(count(everything, "AWS::KMS::Key")).toBe(2);
    for (const type of ["AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::Logs::LogGroup"]) {
      for (const [id, properties] of resourcesOf(everything, type)) {
        expect([id, JSON.stringify(properties)]).toEqual([id, expect.stringContaining(keyId)]);
      }
    }
    const ofTopics = resourcesOf(everything, "AWS::SNS::Topic").map(([, topic]) => JSON.stringify(topic));
    expect(ofTopics.filter((topic) => topic.includes(keyId))).toEqual([]);
    expect(ofTopics.every((topic) => topic.includes('"KmsMasterKeyId":{"Fn::GetAtt":["AlarmsTopicKey'))).toBe(true);
    expect(entries(everything).find(([id]) => id === keyId)?.[1].DeletionPolicy).toBe("Retain");
  });

  test("nothing with a name of its own stays after a failed first deployment, where it would be in the way", () => {
    const named = entries(everything).filter(
      ([, { DeletionPolicy: policy, Properties: properties }]) =>
        policy === "Retain" &&
        Object.keys(properties ?? {}).some((name) => /^(?!Attribute|Function)\w*Name$/.test(name)),
    );
    expect(named.map(([id]) => id)).toEqual([]);
  });

  test("the account's role for API Gateway's logs can be left alone", () => {
    expect(count(synthesize({ gatewayLogRole: "existing" }).us, "AWS::ApiGateway::Account")).toBe(0);
    expect(count(atOnce, "AWS::ApiGateway::Account")).toBe(1);
  });

  test("backups of all tables are copied to the other vault", () => {
    const { BackupPlan: plan } = resourceOf(everything, "AWS::Backup::BackupPlan") as {
      BackupPlan: { BackupPlanRule: { CopyActions: { DestinationBackupVaultArn: string }[] }[] };
    };
    expect(plan.BackupPlanRule[0]?.CopyActions[0]?.DestinationBackupVaultArn).toMatch(/us-west-2/);
    const { BackupSelection: selection } = resourceOf(everything, "AWS::Backup::BackupSelection") as {
      BackupSelection: { Resources: unknown[] };
    };
    expect(selection.Resources).toHaveLength(count(everything, "AWS::DynamoDB::Table"));
    expect(count(atOnce, "AWS::Backup::BackupPlan")).toBe(0);
  });

  test("backups and copies of the stack's own vault that fail are sent to the tickets, which let EventBridge publish", () => {
    const rules = resourcesOf(everything, "AWS::Events::Rule").map(([, rule]) => plain(rule) as Record<string, object>);
    const [failed, ...others] = rules.filter((rule) => "EventPattern" in rule);
    expect(others).toEqual([]);
    const [vault] = resourcesOf(everything, "AWS::Backup::BackupVault")[0]!;
    expect(failed).toMatchObject({
      EventPattern: {
        source: ["aws.backup"],
        "detail-type": ["Backup Job State Change", "Copy Job State Change"],
        detail: {
          state: ["FAILED", "ABORTED", "EXPIRED"],
          $or: [
            { backupVaultName: [`${vault}.BackupVaultName`] },
            { sourceBackupVaultArn: [`${vault}.BackupVaultArn`] },
          ],
        },
      },
      Targets: [
        { Arn: expect.stringMatching(/^AlarmsTicketTopic/) as string },
        { Arn: "arn:aws:sns:us-east-1:111122223333:alarms" },
      ],
    });
    const allows = (type: string, action: string): boolean =>
      resourcesOf(everything, type).some(([, policy]) =>
        new RegExp(`"${action}[^{]*"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"}`).test(
          JSON.stringify(policy),
        ),
      );
    expect([allows("AWS::SNS::TopicPolicy", "sns:Publish"), allows("AWS::KMS::Key", "kms:GenerateDataKey")]).toEqual([
      true,
      true,
    ]);
    expect(resourcesOf(atOnce, "AWS::Events::Rule").filter(([, rule]) => "EventPattern" in rule)).toEqual([]);
  });

  test("the gateway's own address is closed where there is a domain", () => {
    expect(resourceOf(everything, "AWS::ApiGateway::RestApi")["DisableExecuteApiEndpoint"]).toBe(true);
    expect(resourceOf(atOnce, "AWS::ApiGateway::RestApi")["DisableExecuteApiEndpoint"]).toBe(false);
  });

  test("the firewall logs what it blocks, without keys, and expires it", () => {
    const logging = plain(resourceOf(everything, "AWS::WAFv2::LoggingConfiguration"));
    expect(logging).toMatchObject({
      LogDestinationConfigs: [expect.stringMatching(/:log-group:aws-waf-logs-WorkItems-us$/) as string],
      RedactedFields: [{ SingleHeader: { Name: "authorization" } }],
      LoggingFilter: { DefaultBehavior: "DROP" },
    });
    const groups = resourcesOf(everything, "AWS::Logs::LogGroup").map(([, group]) => group);
    expect(groups).toContainEqual(
      expect.objectContaining({ LogGroupName: "aws-waf-logs-WorkItems-us", RetentionInDays: 90 }),
    );
  });
});
