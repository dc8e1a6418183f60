import type { PartitionKind, Resource, ResourceName, Resources } from "../resources.ts";

/** Name of a function and of its file in `functions/`: its key in the code, in kebab case. */
export function functionNameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * The permissions of a function. The deployment grants exactly these and sets the variables that name the resources;
 * the function reads exactly those variables (`environment.ts`).
 */
export type Permissions = { readonly [N in ResourceName]?: PermissionsOn<Resources[N]> };

type PermissionsOn<R extends Resource> = R extends { readonly kind: "table" }
  ? TablePermissions<Extract<keyof R["indexes"], string>>
  : R extends { readonly kind: "bucket" }
    ? BucketPermissions
    : QueuePermissions;

/** Permissions on a table. */
export interface TablePermissions<I extends string = string> {
  readonly actions: readonly (
    | "GetItem"
    | "BatchGetItem"
    | "Query"
    | "PutItem"
    | "UpdateItem"
    | "DeleteItem"
    | "ConditionCheckItem"
    | "PartiQLInsert"
    | "PartiQLUpdate"
  )[];
  /** Kinds of partitions that the policy allows. @default all */
  readonly partitions?: readonly PartitionKind[];
  /** Kinds of partitions that may be written; the others are only read. @default all of `partitions` */
  readonly writes?: readonly PartitionKind[];
  /** Indexes on which the same actions are allowed. @default none */
  readonly indexes?: readonly I[];
}

const READS: ReadonlySet<string> = new Set<(TablePermissions | BucketPermissions)["actions"][number]>([
  "GetItem",
  "BatchGetItem",
  "Query",
  "ConditionCheckItem",
  "GetObject",
  "ListBucket",
]);

/** Whether a function with these permissions changes or sends anything, except that it counts requests. */
export function changesData(permissions: Permissions): boolean {
  return Object.entries(permissions).some(
    ([name, { actions }]) => name !== "limits" && actions.some((action) => !READS.has(action)),
  );
}

/** Permissions on a table as its policy allows them, one statement for each kind of access. */
export function accessesOf({ actions, partitions, writes = partitions }: TablePermissions) {
  const isRead = (action: string): boolean => READS.has(action);
  const accesses =
    writes === partitions
      ? [{ actions, partitions }]
      : [
          { actions: actions.filter(isRead), partitions },
          { actions: actions.filter((action) => !isRead(action)), partitions: writes },
        ];
  // A function that only names a table has no access.
  return accesses.filter((access) => access.actions.length > 0);
}

/** Permissions on a bucket. */
export interface BucketPermissions {
  /** Without `ListBucket`, S3 responds with 403 instead of 404 if an object doesn't exist. */
  readonly actions: readonly ("GetObject" | "PutObject" | "AbortMultipartUpload" | "DeleteObject" | "ListBucket")[];
}
/** Permissions on a queue. */
export interface QueuePermissions {
  readonly actions: readonly ("SendMessage" | "ChangeMessageVisibility")[];
}
