import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createRunningStack } from "./running-stack.ts";

/** A stack as CloudFormation describes it. */
export interface DeployedStack {
  readonly status: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly terminationProtection?: boolean;
  /** JSON. */
  readonly template?: string;
  /** Outputs by name. */
  readonly outputs?: Readonly<Record<string, string>>;
}

/** What of a table is switched on. */
export interface TableProtection {
  readonly deletion: boolean;
  readonly recovery: boolean;
  /** @default false */
  readonly stream?: boolean;
  /** AWS regions of its replicas. @default none */
  readonly replicas?: readonly string[];
}

/** What an account has beside stacks. */
export interface AccountFacts {
  /** @default 1000 */
  readonly concurrentExecutions?: number;
  /** ARN of the role by which API Gateway writes logs. @default none */
  readonly logRole?: string;
  /** Addresses that are subscribed to each topic, and whether they have confirmed it. @default none */
  readonly subscriptions?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  /** Paths and actions that the caller may not ask for. @default none */
  readonly denied?: readonly string[];
  /** @default that of the machine */
  readonly clock?: () => number;
}

/** An AWS account that the commands reach over HTTP, and that was not bootstrapped for the CDK. */
export interface AwsAccount {
  /** Variables that lead the SDK and the CDK's command line to it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Its stacks by name. */
  readonly stacks: Map<string, DeployedStack>;
  /** What of its stacks is on. */
  readonly running: ReturnType<typeof createRunningStack>;
  /** The actions that it was asked for, other than to describe. */
  readonly changes: Readonly<Record<string, string>>[];
  close(): void;
}

const escape = (value: string): string => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;

const describeStack = (
  name: string,
  { status, tags = {}, terminationProtection = false, outputs = {} }: DeployedStack,
): string =>
  element(
    "member",
    element("StackName", escape(name)) +
      element("StackId", `arn:aws:cloudformation:us-east-1:111122223333:stack/${escape(name)}/1`) +
      element("CreationTime", "2026-01-01T00:00:00Z") +
      element("StackStatus", status) +
      element("EnableTerminationProtection", String(terminationProtection)) +
      element(
        "Outputs",
        Object.entries(outputs)
          .map(([key, value]) => element("member", element("OutputKey", key) + element("OutputValue", value)))
          .join(""),
      ) +
      element(
        "Tags",
        Object.entries(tags)
          .map(([key, value]) => element("member", element("Key", escape(key)) + element("Value", escape(value))))
          .join(""),
      ),
  );

/** Its resources have the names that the template gives them, or their logical ids. */
const listResources = ({ template = "{}" }: DeployedStack): string => {
  const { Resources: resources = {} } = JSON.parse(template) as {
    Resources?: Record<string, { Type: string; Properties?: { FunctionName?: unknown } }>;
  };
  const members = Object.entries(resources).map(([id, { Type, Properties }]) =>
    element(
      "member",
      element("LogicalResourceId", id) +
        element("PhysicalResourceId", String(Type === "AWS::Lambda::Function" ? Properties?.FunctionName : id)) +
        element("ResourceType", Type),
    ),
  );
  return element("StackResourceSummaries", members.join(""));
};

const refuse = (response: ServerResponse, status: number, code: string, message: string): void => {
  response.writeHead(status, { "content-type": "text/xml" });
  response.end(element("ErrorResponse", element("Error", element("Code", code) + element("Message", escape(message)))));
};

const describeTable = (action: string, protection: TableProtection | undefined): object =>
  action === "DescribeTable"
    ? {
        Table: {
          DeletionProtectionEnabled: protection?.deletion ?? true,
          ...(protection?.stream === true && { StreamSpecification: { StreamEnabled: true } }),
          Replicas: protection?.replicas?.map((RegionName) => ({ RegionName })),
        },
      }
    : {
        ContinuousBackupsDescription: {
          ContinuousBackupsStatus: "ENABLED",
          PointInTimeRecoveryDescription: {
            PointInTimeRecoveryStatus: (protection?.recovery ?? true) ? "ENABLED" : "DISABLED",
          },
        },
      };

/**
 * Starts an account with these stacks. It speaks the protocols of STS, SSM, CloudFormation, DynamoDB, Lambda,
 * API Gateway, EventBridge and SNS as far as they are needed.
 */
export const startAwsAccount = async (
  stacks: Readonly<Record<string, DeployedStack>> = {},
  tables: Readonly<Record<string, TableProtection>> = {},
  { concurrentExecutions = 1000, logRole, subscriptions = {}, denied = [], clock = Date.now }: AccountFacts = {},
): Promise<AwsAccount> => {
  const running = createRunningStack(clock);
  const known = new Map(Object.entries(stacks));
  const changes: Readonly<Record<string, string>>[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (request.headers["x-amz-target"] === "AmazonSSM.GetParameter") {
      response.writeHead(400, { "content-type": "application/x-amz-json-1.1" });
      response.end(JSON.stringify({ __type: "ParameterNotFound" }));
      return;
    }
    const dynamodb = /^DynamoDB_20120810\.(\w+)$/.exec(String(request.headers["x-amz-target"]))?.[1];
    if (dynamodb !== undefined) {
      response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
      response.end(
        JSON.stringify(describeTable(dynamodb, tables[(JSON.parse(body) as { TableName: string }).TableName])),
      );
      return;
    }
    const ofStack = running.answer(request, body);
    if (ofStack !== undefined) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ofStack));
      return;
    }
    const asked = new Map([
      ["/2016-08-19/account-settings", { AccountLimit: { ConcurrentExecutions: concurrentExecutions } }],
      ["/account", { cloudwatchRoleArn: logRole }],
    ]);
    const path = request.url?.replace(/\/$/, "") ?? "";
    const fact = asked.get(path);
    if (fact !== undefined) {
      const isDenied = denied.includes(path);
      response.writeHead(isDenied ? 403 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isDenied ? { __type: "AccessDeniedException", message: "not authorized" } : fact));
      return;
    }
    const { Action: action = "", ...parameters } = Object.fromEntries(new URLSearchParams(body));
    const result = (content: string): unknown =>
      response
        .writeHead(200, { "content-type": "text/xml" })
        .end(element(`${action}Response`, element(`${action}Result`, content)));
    const name = parameters["StackName"] ?? "";
    const stack = known.get(name);
    if (action === "GetCallerIdentity") {
      result(
        element("Account", "111122223333") +
          element("Arn", "arn:aws:iam::111122223333:user/operator") +
          element("UserId", "operator"),
      );
    } else if (action === "ListSubscriptionsByTopic") {
      const members = Object.entries(subscriptions[parameters["TopicArn"] ?? ""] ?? {}).map(([address, isConfirmed]) =>
        element(
          "member",
          element("SubscriptionArn", isConfirmed ? `${parameters["TopicArn"]}:1` : "PendingConfirmation") +
            element("Endpoint", escape(address)),
        ),
      );
      result(element("Subscriptions", members.join("")));
    } else if (action === "DescribeStacks" && stack === undefined) {
      refuse(response, 400, "ValidationError", `Stack with id ${name} does not exist`);
    } else if (action === "DescribeStacks" && stack !== undefined) {
      result(element("Stacks", describeStack(name, stack)));
    } else if (action === "ListStackResources" && stack !== undefined) {
      running.actions.add("cloudformation:ListStackResources");
      result(listResources(stack));
    } else if (action === "GetTemplate" && stack !== undefined) {
      running.actions.add("cloudformation:GetTemplate");
      result(element("TemplateBody", escape(stack.template ?? "{}")));
    } else if (action === "UpdateTerminationProtection" && stack !== undefined) {
      changes.push({ action, ...parameters });
      known.set(name, { ...stack, terminationProtection: parameters["EnableTerminationProtection"] === "true" });
      result(element("StackId", escape(name)));
    } else {
      refuse(response, 403, "AccessDenied", `not authorized to perform ${action}`);
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    variables: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: "example",
      AWS_SECRET_ACCESS_KEY: "example",
    },
    stacks: known,
    running,
    changes,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
