import { type ResourceName, resources } from "../../lib/resources.ts";
import type { Permissions, TablePermissions } from "../../lib/runtime/permissions.ts";
import { createTestClients, type TestRuntime } from "./runtime.ts";

/** What IAM is asked for one part of a request. */
export interface Asked {
  readonly resource: ResourceName | "nothing of ours";
  readonly action: string;
  /** Partition key, or key of an object. */
  readonly key?: string | undefined;
  readonly index?: string | undefined;
}

type Attribute = { readonly S?: string } | string | undefined;
type Input = Readonly<Record<string, unknown>>;
interface Item {
  readonly TableName?: string;
  readonly Key?: Readonly<Record<string, Attribute>>;
  readonly Item?: Readonly<Record<string, Attribute>>;
}

const textOf = (value: Attribute): string | undefined => (typeof value === "string" ? value : value?.S);
const keyOf = ({ Key, Item }: Item): string | undefined => textOf((Key ?? Item)?.["pk"]);

/** Which permissions a request takes, as the service authorization reference of DynamoDB, S3 and SQS says. */
const askedBy = (command: string, input: Input, resourceOf: (name: unknown) => Asked["resource"]): readonly Asked[] => {
  const one = (action: string, item: Item = input): Asked => ({
    resource: resourceOf(item.TableName),
    action,
    key: keyOf(item),
  });
  switch (command) {
    case "BatchGetItem":
      return Object.entries(input["RequestItems"] as Record<string, { Keys: Item["Key"][] }>).flatMap(
        ([table, { Keys }]) => Keys.map((Key) => one("BatchGetItem", { TableName: table, ...(Key && { Key }) })),
      );
    case "Query": {
      const [, , placeholder = ""] = /^\s*(\w+) = (:\w+)/.exec(String(input["KeyConditionExpression"])) ?? [];
      const values = input["ExpressionAttributeValues"] as Record<string, Attribute>;
      return [{ ...one("Query"), key: textOf(values[placeholder]), index: input["IndexName"] as string | undefined }];
    }
    case "TransactWriteItems":
      return (input["TransactItems"] as Record<string, Item>[]).flatMap((action) =>
        Object.entries(action).map(([name, item]) =>
          one(name === "ConditionCheck" ? "ConditionCheckItem" : `${name}Item`, item),
        ),
      );
    case "BatchExecuteStatement":
      return (input["Statements"] as { Statement: string; Parameters: Attribute[] }[]).map(
        ({ Statement, Parameters }) => {
          const [, verb, table] = /^(INSERT INTO|UPDATE) "([^"]+)"/.exec(Statement) ?? [];
          // An insert begins with the key; an update ends with key and version.
          const key = textOf(verb === "UPDATE" ? Parameters.at(-3) : Parameters[0]);
          return { resource: resourceOf(table), action: verb === "UPDATE" ? "PartiQLUpdate" : "PartiQLInsert", key };
        },
      );
    case "HeadObject":
      return [{ resource: resourceOf(input["Bucket"]), action: "GetObject", key: String(input["Key"]) }];
    case "SendMessage":
    case "SendMessageBatch":
      return [{ resource: resourceOf(input["QueueUrl"]), action: "SendMessage" }];
    default:
      return input["Bucket"] === undefined
        ? [one(command)]
        : [{ resource: resourceOf(input["Bucket"]), action: command, key: String(input["Key"]) }];
  }
};

const isAllowed = (permissions: Permissions, { resource: name, action, key = "", index }: Asked): boolean => {
  if (name === "nothing of ours") return false;
  const granted = permissions[name];
  if (granted === undefined || !(granted.actions as readonly string[]).includes(action)) return false;
  const resource = resources[name];
  if (resource.kind === "bucket") return key.startsWith(resource.prefix);
  if (resource.kind === "queue") return true;
  const { partitions, indexes = [] }: Pick<TablePermissions, "partitions" | "indexes"> = granted as TablePermissions;
  return (
    (index === undefined || indexes.includes(index)) &&
    (partitions === undefined || partitions.some((kind) => key.startsWith(`${kind}#`)))
  );
};

/**
 * The runtime as a function has it in the cloud, where its policy holds: what its row does not permit is refused.
 * @param hear hears every permission that is asked for, and whether the policy has it
 */
export const policedRuntime = (
  runtime: TestRuntime,
  permissions: Permissions,
  hear: (asked: Asked, allowed: boolean) => void,
): TestRuntime => {
  const { environment } = runtime;
  const names = new Map<unknown, ResourceName>(
    Object.entries(resources).map(([name, { variable }]) => [environment[variable], name as ResourceName]),
  );
  const resourceOf = (name: unknown) => names.get(name) ?? "nothing of ours";
  const clients = createTestClients();
  const check = (command: unknown, input: unknown): void => {
    for (const asked of askedBy(String(command).replace(/Command$/, ""), input as Input, resourceOf)) {
      const allowed = isAllowed(permissions, asked);
      hear(asked, allowed);
      if (!allowed)
        throw Object.assign(new Error(`not authorized: ${JSON.stringify(asked)}`), { name: "AccessDeniedException" });
    }
  };
  // Where the input has its final form, attribute values included, and no byte is sent yet.
  const options = { step: "serialize", name: "police" } as const;
  clients.dynamodb.middlewareStack.add(
    (next, context) => (request) => {
      check(context.commandName, request.input);
      return next(request);
    },
    options,
  );
  clients.s3.middlewareStack.add(
    (next, context) => (request) => {
      check(context.commandName, request.input);
      return next(request);
    },
    options,
  );
  clients.sqs.middlewareStack.add(
    (next, context) => (request) => {
      check(context.commandName, request.input);
      return next(request);
    },
    options,
  );
  return { ...runtime, ...clients };
};
