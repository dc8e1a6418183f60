import type { PartitionKind, Resource, ResourceName, Resources } from "../resources.ts";

/**
 * What a function may do, in one place: the deployment grants exactly this and sets the variables that name the
 * resources; the function reads exactly those variables (`environment.ts`). One that reaches for more finds neither.
 */
export type Permissions = { readonly [N in ResourceName]?: PermissionsOn<Resources[N]> };

type PermissionsOn<R extends Resource> = R extends { readonly kind: "table" }
  ? TablePermissions<Extract<keyof R["indexes"], string>>
  : R extends { readonly kind: "bucket" }
    ? BucketPermissions
    : QueuePermissions;

export interface TablePermissions<I extends string = string> {
  readonly actions: readonly (
    | "GetItem"
    | "BatchGetItem"
    | "Query"
    | "PutItem"
    | "UpdateItem"
    | "DeleteItem"
    | "PartiQLInsert"
    | "PartiQLUpdate"
  )[];
  /** Kinds of partitions that the policy admits. @default all */
  readonly partitions?: readonly PartitionKind[];
  /** Indexes on which the actions are allowed too. @default none */
  readonly indexes?: readonly I[];
}
export interface BucketPermissions {
  /** Without `ListBucket` S3 answers 403 instead of 404 to whoever asks for an object that is not there. */
  readonly actions: readonly ("GetObject" | "PutObject" | "AbortMultipartUpload" | "DeleteObject" | "ListBucket")[];
}
export interface QueuePermissions {
  readonly actions: readonly "SendMessage"[];
}
