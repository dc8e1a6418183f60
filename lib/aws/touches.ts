/**
 * What a function touches, in one place: the deployment grants exactly this and sets the variables that name it;
 * the function reads exactly those variables (`environment.ts`). A function that reaches for more finds neither.
 */
export interface Touches {
  /** The WorkItems table. `keys` are the partition-key patterns the policy admits (`dynamodb:LeadingKeys`). */
  readonly workItems?: TableTouch & { readonly keys: readonly WorkItemsKeyPattern[]; readonly listing?: boolean };
  /** API keys and organizations. Functions only read it. */
  readonly access?: TableTouch;
  /** Rate-limit records. */
  readonly limits?: TableTouch;
  readonly uploads?: BucketTouch;
  /** Queue of S3 events and hand-overs for the splitter. */
  readonly splitQueue?: QueueTouch;
  /** Queue of parts to apply. */
  readonly partsQueue?: QueueTouch;
}

export interface TableTouch {
  readonly actions: readonly TableAction[];
}
export type TableAction =
  | "GetItem"
  | "BatchGetItem"
  | "Query"
  | "PutItem"
  | "UpdateItem"
  | "DeleteItem"
  | "PartiQLInsert"
  | "PartiQLUpdate";

/** First part of a partition key of the WorkItems table or of its `listing` index. */
export type WorkItemsKeyPattern =
  | "ITEM#*"
  | "UPLOAD#*"
  | "OPEN_UPLOADS#*"
  | "CONVERSATION#*"
  | "LIST_ITEM#*"
  | "LIST_UPLOAD#*"
  | "LIST_CONVERSATION#*";

export interface BucketTouch {
  /** Without `ListBucket` S3 answers 403 instead of 404 to whoever asks for an object that is not there. */
  readonly actions: readonly ("GetObject" | "PutObject" | "AbortMultipartUpload" | "DeleteObject" | "ListBucket")[];
}
export interface QueueTouch {
  readonly actions: readonly "SendMessage"[];
}
