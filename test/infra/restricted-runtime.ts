import { type ResourceName, resources } from "../../lib/resources.ts";
import { accessesOf, type Permissions, type TablePermissions } from "../../lib/aws/permissions.ts";
import { createTestClients, type TestRuntime } from "../support/runtime.ts";

/** A permission that a request requires. */
export interface RequestedPermission {
  readonly resource: ResourceName | "unknown";
  readonly action: string;
  /** Partition key of a record, or key of an object. */
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

/** The permissions that a request requires by the service authorization reference of DynamoDB, S3 and SQS. */
const permissionsFor = (
  command: string,
  input: Input,
  resourceOf: (name: unknown) => RequestedPermission["resource"],
): readonly RequestedPermission[] => {
  const one = (action: string, item: Item = input): RequestedPermission => ({
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
      const [, placeholder = ""] = /^\s*#?\w+ = (:\w+)/.exec(String(input["KeyConditionExpression"])) ?? [];
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
          // The parameters of an insert begin with the key; those of an update end with key and version.
          const key = textOf(verb === "UPDATE" ? Parameters.at(-3) : Parameters[0]);
          return { resource: resourceOf(table), action: verb === "UPDATE" ? "PartiQLUpdate" : "PartiQLInsert", key };
        },
      );
    case "BatchWriteItem":
      return Object.keys(input["RequestItems"] as object).map((table) => one("BatchWriteItem", { TableName: table }));
    case "ListObjectsV2":
      return [{ resource: resourceOf(input["Bucket"]), action: "ListBucket", key: String(input["Prefix"]) }];
    case "DeleteObjects":
      return [{ resource: resourceOf(input["Bucket"]), action: "DeleteObject", key: "uploads/" }];
    case "HeadObject":
      return [{ resource: resourceOf(input["Bucket"]), action: "GetObject", key: String(input["Key"]) }];
    case "SendMessage":
    case "SendMessageBatch":
      return [{ resource: resourceOf(input["QueueUrl"]), action: "SendMessage" }];
    case "ChangeMessageVisibilityBatch":
      return [{ resource: resourceOf(input["QueueUrl"]), action: "ChangeMessageVisibility" }];
    case "GetQueueAttributes":
      return [{ resource: resourceOf(input["QueueUrl"]), action: "GetQueueAttributes" }];
    default:
      return input["Bucket"] === undefined
        ? [one(command)]
        : [{ resource: resourceOf(input["Bucket"]), action: command, key: String(input["Key"]) }];
  }
};

const isAllowed = (
  permissions: Permissions,
  { resource: name, action, key = "", index }: RequestedPermission,
): boolean => {
  if (name === "unknown") return false;
  const granted = permissions[name];
  if (granted === undefined || !(granted.actions as readonly string[]).includes(action)) return false;
  const resource = resources[name];
  if (resource.kind === "bucket") return key.startsWith(resource.prefix);
  if (resource.kind === "queue") return true;
  const onTable = granted as TablePermissions;
  const { partitions } = accessesOf(onTable).find(({ actions }) => (actions as readonly string[]).includes(action))!;
  return (
    (index === undefined || (onTable.indexes ?? []).includes(index)) &&
    (partitions === undefined || partitions.some((kind) => key.startsWith(`${kind}#`)))
  );
};

/**
 * A runtime with the restrictions of a deployed function's policy: requests without permission are refused.
 * @param onCheck called for every permission that a request requires, and whether the policy allows it
 */
export const restrictedRuntime = (
  runtime: TestRuntime,
  permissions: Permissions,
  onCheck: (requested: RequestedPermission, allowed: boolean) => void,
): TestRuntime => {
  const { environment } = runtime;
  const names = new Map<unknown, ResourceName>(
    Object.entries(resources).map(([name, { variable }]) => [environment[variable], name as ResourceName]),
  );
  const resourceOf = (name: unknown) => names.get(name) ?? "unknown";
  const clients = createTestClients();
  const check = (command: unknown, input: unknown): void => {
    for (const requested of permissionsFor(String(command).replace(/Command$/, ""), input as Input, resourceOf)) {
      const allowed = isAllowed(permissions, requested);
      onCheck(requested, allowed);
      if (!allowed) {
        const error = new Error(`not authorized: ${JSON.stringify(requested)}`);
        throw Object.assign(error, { name: "AccessDeniedException" });
      }
    }
  };
  for (const client of Object.values(clients)) {
    const stack = client.middlewareStack as typeof clients.s3.middlewareStack;
    stack.add(
      (next, context) => (request) => {
        check(context.commandName, request.input);
        return next(request);
      },
      // In this step the input has its final form, and nothing has been sent yet.
      { step: "serialize", name: "checkPermissions" },
    );
  }
  return { ...runtime, ...clients };
};
