/** Name of the partition key in every table. */
export const PARTITION_KEY = "pk";
/** Name of the sort key in every table. */
export const SORT_KEY = "sk";
/** Name of the attribute that says when a record expires, in seconds since the epoch. Records without it don't expire. */
export const TIME_TO_LIVE = "expires_at";

/** A global secondary index. It is sparse: it contains only records that have its keys. */
interface TableIndex {
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Attributes that it contains in addition to the keys. @default none */
  readonly projection?: readonly string[];
  /** Whether it has so few records that it needs no warm throughput above DynamoDB's default. @default false */
  readonly isSmall?: true;
}

interface Named {
  /** Construct id in the stack. If it changes, CloudFormation replaces the resource with its data. */
  readonly id: string;
  /** The environment variable of functions that holds the resource's name or URL. */
  readonly variable: string;
}
export interface TableResource extends Named {
  readonly kind: "table";
  readonly indexes: Readonly<Record<string, TableIndex>>;
  /** Whether it has a stream of the keys of all records that are written. @default false */
  readonly stream?: true;
  /** Whether it has a replica beside the copies of backups, for what the last of them lacks. @default false */
  readonly replicated?: true;
  /** Whether records are kept for ever, whatever attributes they have. @default false */
  readonly keepsAll?: true;
}
export interface BucketResource extends Named {
  readonly kind: "bucket";
  /** Functions have access only to objects whose keys start with it. */
  readonly prefix: string;
  /** Objects that expire earlier than the others: the prefix of their keys, and after how many days. */
  readonly shortLived: { readonly prefix: string; readonly days: number };
  /** The queue that gets an event for every new object whose key has the prefix and this suffix. */
  readonly notifies: { readonly queue: "splitQueue"; readonly suffix: string };
}
/** An SQS queue. */
export interface QueueResource extends Named {
  readonly kind: "queue";
  /** Whether each group's messages are handled in order, one batch at a time. @default false */
  readonly isFifo?: true;
  /** Whether a message stays until it is handled. Others become dead letters after five failures. @default false */
  readonly keepsAll?: true;
}
/** A resource that holds state. */
export type Resource = TableResource | BucketResource | QueueResource;

/**
 * All resources that hold state; each region has its own. The stack, the permissions and variables of functions, the
 * dashboard's metrics and the resources of the local service and the tests are derived from this table.
 * API keys and limits have their own tables, so that no function's policy can allow it to create a key.
 */
export const resources = {
  /** Work items with their events, upload jobs, and conversation uploads. */
  workItems: {
    kind: "table",
    id: "WorkItems",
    variable: "WORK_ITEMS_TABLE",
    stream: true,
    indexes: {
      /** All lists except those of agents. It projects only the attributes that filters need. */
      listing: {
        partitionKey: "listing_pk",
        sortKey: "listing_sk",
        projection: ["agent_external_id", "agent_email", "type", "status"],
      },
      /** The lists of an agent's work items, in the same order: both indexes share the sort key. */
      agents: { partitionKey: "agent_pk", sortKey: "listing_sk", projection: ["type", "status"] },
      /** The upload jobs that haven't ended, by organization and id. */
      open_jobs: { partitionKey: "open_pk", sortKey: "open_sk", projection: ["check_at"], isSmall: true },
    },
  },
  /** API keys and organizations. Only the operator's commands write to it. */
  access: { kind: "table", id: "Access", variable: "ACCESS_TABLE", indexes: {} },
  /** Rate-limit records. */
  limits: { kind: "table", id: "Limits", variable: "LIMITS_TABLE", indexes: {} },
  /** The change feed: a log for each organization. */
  changes: { kind: "table", id: "Changes", variable: "CHANGES_TABLE", indexes: {} },
  /** Webhooks: settings, secrets and states of endpoints. */
  webhooks: {
    kind: "table",
    id: "Webhooks",
    variable: "WEBHOOKS_TABLE",
    indexes: {
      /** The states that the sweep must handle, by time. */
      due: { partitionKey: "due_pk", sortKey: "due_sk", isSmall: true },
    },
  },
  /**
   * What operators did, and what was erased. Functions can't use it, but `sweep-changes` knows its name. Restored only if its
   * region is lost.
   */
  audit: { kind: "table", id: "Audit", variable: "AUDIT_TABLE", indexes: {}, replicated: true, keepsAll: true },
  /** Uploaded files, their chunks, and the lists of their rows. */
  uploads: {
    kind: "bucket",
    id: "Uploads",
    variable: "UPLOADS_BUCKET",
    prefix: "uploads/",
    // Lists of trials contain what items were. Organization ids never begin with a dot.
    shortLived: { prefix: "uploads/.trials/", days: 1 },
    notifies: { queue: "splitQueue", suffix: "source.csv" },
  },
  /** Uploaded files to split, as S3's events, and jobs whose lists of rows are to be merged. */
  splitQueue: { kind: "queue", id: "SplitQueue", variable: "SPLIT_QUEUE_URL" },
  /** Chunks of uploads to apply. */
  chunksQueue: { kind: "queue", id: "ChunksQueue", variable: "CHUNKS_QUEUE_URL" },
  /** Changes on their way from the stream to the change logs; each organization is a group. */
  changesQueue: { kind: "queue", id: "ChangesQueue", variable: "CHANGES_QUEUE_URL", isFifo: true, keepsAll: true },
  /** Notices for webhooks, and calls of their endpoints. */
  webhooksQueue: { kind: "queue", id: "WebhooksQueue", variable: "WEBHOOKS_QUEUE_URL", keepsAll: true },
} as const satisfies Record<string, Resource>;

export type Resources = typeof resources;
/** Name of a resource in the code. */
export type ResourceName = keyof Resources;
/** Name of a resource of one kind. */
export type ResourceNameOf<K extends Resource["kind"]> = {
  [N in ResourceName]: Resources[N] extends { readonly kind: K } ? N : never;
}[ResourceName];

/** All resources of one kind by name, in the order of the table. */
export function resourcesOfKind<K extends Resource["kind"]>(kind: K) {
  return (Object.entries(resources) as [ResourceName, Resource][]).filter(
    (entry): entry is [ResourceNameOf<K>, Extract<Resource, { kind: K }>] => entry[1].kind === kind,
  );
}

/** Maps all resources of one kind to values, by name. */
export function mapResources<K extends Resource["kind"], T>(
  kind: K,
  map: (resource: Extract<Resource, { kind: K }>, name: ResourceNameOf<K>) => T,
): Readonly<Record<ResourceNameOf<K>, T>> {
  return Object.fromEntries(resourcesOfKind(kind).map(([name, resource]) => [name, map(resource, name)])) as Readonly<
    Record<ResourceNameOf<K>, T>
  >;
}

/** Prefix of the partition keys of one kind of records in the table WorkItems. */
export type RecordKind = "ITEM" | "DRY_RUN" | "UPLOAD" | "CONVERSATION" | "HEALTH" | "HEARTBEAT" | "ORIGIN";

/** Prefix of the partition keys of one kind of records, in any table or index. */
export type PartitionKind =
  | RecordKind
  | "OPEN_UPLOADS"
  | "NOTED_HEARTBEAT"
  | "LOG"
  | "GAPS"
  | "WEBHOOK"
  | "WEBHOOK_LIMIT"
  | "WEBHOOK_SECRET"
  | "WEBHOOK_STATE"
  | "DUE_WEBHOOKS"
  | "ORGANIZATIONS"
  | "COMMANDS"
  | "ERASURES"
  | "LEDGER"
  | "LIST_ITEM"
  | "LIST_DELETED_ITEM"
  | "LIST_ITEM_OF_AGENT"
  | "LIST_UPLOAD"
  | "LIST_CONVERSATION";

/** A partition key: the kind, then the owner. Functions' policies allow whole kinds (`dynamodb:LeadingKeys`). */
export function partitionKeyOf(kind: PartitionKind, ...owner: readonly (string | number)[]): string {
  let key: string = kind;
  for (const part of owner) key += `#${part}`;
  return key;
}
