import { type ResourceName, resources } from "../../../lib/resources.ts";
import { REGIONS, type RegionCode } from "../../../lib/regions.ts";
import { createCommandLine, UsageError } from "../../command-line.ts";
import { DEFAULT_STAGE, stackNameOf } from "../../settings/settings.ts";
import { runAsProgram, type Terminal } from "../../terminal.ts";
import { regionCode, runOperatorCommand } from "./administration.ts";

/** What a group of commands does with a resource. */
export type OperatorActions = Readonly<Partial<Record<ResourceName, readonly string[]>>>;

/**
 * What the operator's commands call, by job. Compared with the commands by a test. Of queues they only
 * read how many messages wait, and no function has the permissions of the third.
 */
export const OPERATOR_POLICIES = {
  /** `organizations list`, `show`, `export` and `changes`; `keys list`. */
  read: {
    access: ["GetItem", "Query", "Scan"],
    audit: ["GetItem", "Query", "PutItem"],
    workItems: ["GetItem", "Query"],
    limits: ["BatchGetItem"],
    changes: ["GetItem", "BatchGetItem", "Query"],
    changesQueue: ["GetQueueAttributes"],
  },
  /** `keys create`, `rotate` and `revoke`; `organizations set`. */
  keys: {
    access: ["GetItem", "Query", "Scan", "PutItem", "UpdateItem", "ConditionCheckItem"],
    audit: ["PutItem"],
  },
  /** `organizations erase` and `import`; `organizations changes --resync`. */
  erase: {
    access: ["GetItem", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"],
    audit: ["GetItem", "Query", "PutItem"],
    workItems: [
      "GetItem",
      "BatchGetItem",
      "Query",
      "Scan",
      "PutItem",
      "UpdateItem",
      "DeleteItem",
      "BatchWriteItem",
      "ConditionCheckItem",
      "PartiQLInsert",
    ],
    limits: ["DeleteItem"],
    changes: ["GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem"],
    webhooks: ["Query", "DeleteItem"],
    changesQueue: ["GetQueueAttributes"],
    uploads: ["ListBucket", "GetObject", "DeleteObject"],
  },
} as const satisfies Record<string, OperatorActions>;
export type OperatorPolicy = keyof typeof OPERATOR_POLICIES;

/** An IAM policy for a group of commands on one stack. Names of tables, bucket and queue begin with the stack's. */
export function policyFor(name: OperatorPolicy, stage: string, region: RegionCode): object {
  const stack = stackNameOf(region, stage);
  const { awsRegion } = REGIONS[region];
  const granted: OperatorActions = OPERATOR_POLICIES[name];
  const statements = Object.entries(granted).map(([resource, actions]) => {
    const { kind, id } = resources[resource as ResourceName];
    const bucket = `arn:aws:s3:::${stack.toLowerCase()}-${id.toLowerCase()}*`;
    const table = `arn:aws:dynamodb:${awsRegion}:*:table/${stack}-Tables${id}*`;
    const arns = {
      bucket: [bucket, `${bucket}/*`],
      table: [table, `${table}/index/*`],
      queue: [`arn:aws:sqs:${awsRegion}:*:${stack}-${id}*`],
    };
    const service = { bucket: "s3", table: "dynamodb", queue: "sqs" }[kind];
    return {
      Sid: id,
      Effect: "Allow",
      Action: actions.map((action) => `${service}:${action}`),
      Resource: arns[kind],
    };
  });
  const describe = {
    Sid: "Stack",
    Effect: "Allow",
    Action: ["cloudformation:DescribeStacks"],
    Resource: [`arn:aws:cloudformation:${awsRegion}:*:stack/${stack}/*`],
  };
  return { Version: "2012-10-17", Statement: [describe, ...statements] };
}

/** `npm run policies`. @returns the exit status */
function policiesCommand(terminal: Terminal): Promise<number> {
  const names = Object.keys(OPERATOR_POLICIES) as OperatorPolicy[];
  const program = createCommandLine(
    terminal,
    "npm run policies --",
    "Print an IAM policy for people who run the operator's commands",
  );
  program
    .argument("<commands>", names.join(", "))
    .requiredOption("--region <region>", "us or eu")
    .option("--stage <stage>", "the stage", DEFAULT_STAGE)
    .action((name: string, { region, stage }: { readonly region: string; readonly stage: string }) => {
      const found = names.find((each) => each === name);
      if (found === undefined) throw new UsageError(`there is no ${name}; name one of ${names.join(", ")}`);
      terminal.printData(JSON.stringify(policyFor(found, stage, regionCode(region)), undefined, 2));
    });
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(policiesCommand);
