/** Names of the primary key's attributes, the same in every table. */
export const PARTITION_KEY = "pk";
export const SORT_KEY = "sk";
/** Seconds since the epoch after which DynamoDB may remove a record; set on records that may go. */
export const TIME_TO_LIVE = "expires_at";

/** A global secondary index. It is sparse: a record without its keys is not in it. */
interface TableIndex {
  readonly partitionKey: string;
  readonly sortKey: string;
  /** Attributes that it holds beside the keys. */
  readonly projection: readonly string[];
}

interface Named {
  /** Construct id in the stack. CloudFormation replaces the resource, data and all, where it changes. */
  readonly id: string;
  /** The environment variable that names the resource to functions. */
  readonly variable: string;
}
export interface TableResource extends Named {
  readonly kind: "table";
  readonly indexes: Readonly<Record<string, TableIndex>>;
}
export interface BucketResource extends Named {
  readonly kind: "bucket";
  /** Functions reach only objects whose keys begin with it. */
  readonly prefix: string;
  /** The queue that hears of every new object whose key begins with the prefix and ends so. */
  readonly notifies: { readonly queue: "splitQueue"; readonly suffix: string };
}
export interface QueueResource extends Named {
  readonly kind: "queue";
}
export type Resource = TableResource | BucketResource | QueueResource;

/**
 * Everything that holds state, once a region. From this table follow the stack, the permissions and variables of
 * functions, the dashboard's metrics and, by way of the template, what the local stack and the tests provision.
 * Three tables, so that no function's policy could mint a key or reach what it does not own.
 */
export const resources = {
  /** Work items with their events, upload jobs, conversation uploads. */
  workItems: {
    kind: "table",
    id: "WorkItems",
    variable: "WORK_ITEMS_TABLE",
    indexes: {
      /** Lists every listable kind of record. It projects only what list filters need. */
      listing: {
        partitionKey: "listing_pk",
        sortKey: "listing_sk",
        projection: ["agent_external_id", "agent_email", "type", "status"],
      },
    },
  },
  /** API keys and organizations: written by the operator's commands alone. */
  access: { kind: "table", id: "Access", variable: "ACCESS_TABLE", indexes: {} },
  /** Rate-limit records. */
  limits: { kind: "table", id: "Limits", variable: "LIMITS_TABLE", indexes: {} },
  /** Uploaded files and what the workers make of them. */
  uploads: {
    kind: "bucket",
    id: "Uploads",
    variable: "UPLOADS_BUCKET",
    prefix: "uploads/",
    notifies: { queue: "splitQueue", suffix: "source.csv" },
  },
  /** S3's events and hand-overs for the splitter. */
  splitQueue: { kind: "queue", id: "SplitQueue", variable: "SPLIT_QUEUE_URL" },
  /** Parts of uploads to apply. */
  partsQueue: { kind: "queue", id: "PartsQueue", variable: "PARTS_QUEUE_URL" },
} as const satisfies Record<string, Resource>;

export type Resources = typeof resources;
export type ResourceName = keyof Resources;
export type ResourceNameOf<K extends Resource["kind"]> = {
  [N in ResourceName]: Resources[N] extends { readonly kind: K } ? N : never;
}[ResourceName];

/** All resources of one kind by name, in the order of the table. */
export const resourcesOfKind = <K extends Resource["kind"]>(kind: K) =>
  (Object.entries(resources) as [ResourceName, Resource][]).filter(
    (entry): entry is [ResourceNameOf<K>, Extract<Resource, { kind: K }>] => entry[1].kind === kind,
  );

/** Something for each resource of one kind, by name. */
export const mapResources = <K extends Resource["kind"], T>(
  kind: K,
  map: (resource: Extract<Resource, { kind: K }>, name: ResourceNameOf<K>) => T,
): Readonly<Record<ResourceNameOf<K>, T>> =>
  Object.fromEntries(resourcesOfKind(kind).map(([name, resource]) => [name, map(resource, name)])) as Readonly<
    Record<ResourceNameOf<K>, T>
  >;

/** First part of a partition key of the WorkItems table or of one of its indexes. */
export type PartitionKind =
  | "ITEM"
  | "UPLOAD"
  | "OPEN_UPLOADS"
  | "CONVERSATION"
  | "LIST_ITEM"
  | "LIST_UPLOAD"
  | "LIST_CONVERSATION";

/** A partition key: the kind, then what it belongs to. Functions' policies admit whole kinds (`dynamodb:LeadingKeys`). */
export const partitionKeyOf = (kind: PartitionKind, ...owner: readonly (string | number)[]): string =>
  [kind, ...owner].join("#");
