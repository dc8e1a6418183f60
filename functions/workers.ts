import type { PartitionKind, ResourceNameOf } from "../lib/resources.ts";
import { functionNameOf, type Permissions } from "../lib/aws/permissions.ts";

/** Records in a stream. */
export interface StreamedPartition {
  readonly kind: PartitionKind;
  /** @default any */
  readonly sortKey?: string;
}

/** What starts a function that isn't behind the gateway. */
export type Trigger =
  | {
      readonly kind: "queue";
      readonly queue: ResourceNameOf<"queue">;
      readonly maximumConcurrency: number;
      /** The most messages that one instance gets and handles at once. @default 1 */
      readonly batchSize?: number;
      /** The longest that one invocation may take. @default 2 */
      readonly timeoutMinutes?: 15;
    }
  /** The stream of a table's keys: only records in these kinds of partitions, and with the sort key if one is named. */
  | {
      readonly kind: "stream";
      readonly table: "workItems";
      readonly partitions: readonly StreamedPartition[];
      /** The most records that one invocation gets. */
      readonly batchSize: number;
    }
  | {
      readonly kind: "schedule";
      readonly everyMinutes: number;
      /** The longest that one run may take. @default 2 */
      readonly timeoutMinutes?: 15;
    }
  /** Invoked by other systems of the same account, by IAM alone. */
  | { readonly kind: "direct" };

/** One Lambda behind a queue, a schedule or a direct invocation. */
export interface Worker {
  readonly name: string;
  readonly summary: string;
  readonly trigger: Trigger;
  readonly permissions: Permissions;
}

const jobPartitions = ["UPLOAD", "OPEN_UPLOADS"] as const;

const rows = {
  splitUpload: {
    summary: "Puts the rows of an uploaded CSV file into chunks, and merges long lists of rows at the end",
    // A file of 5 GiB takes minutes. With this many at once, small files seldom wait.
    trigger: { kind: "queue", queue: "splitQueue", maximumConcurrency: 20, timeoutMinutes: 15 },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: ["UPLOAD"] },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
      splitQueue: { actions: ["SendMessage"] },
      chunksQueue: { actions: ["SendMessage"] },
    },
  },
  applyUploadChunk: {
    summary: "Applies the rows of one chunk, window by window",
    // While one chunk waits for DynamoDB or S3, the others use the CPU.
    trigger: { kind: "queue", queue: "chunksQueue", maximumConcurrency: 20, batchSize: 4 },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: {
        actions: ["Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "PartiQLInsert", "PartiQLUpdate"],
        partitions: ["UPLOAD", "ITEM", "DRY_RUN"],
      },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
      splitQueue: { actions: ["SendMessage"] },
      chunksQueue: { actions: ["SendMessage"] },
    },
  },
  sweepUploads: {
    summary: "Resumes upload jobs that lost a message or a worker; ends those that can no longer complete",
    trigger: { kind: "schedule", everyMinutes: 1 },
    permissions: {
      workItems: { actions: ["Query", "GetItem", "UpdateItem"], partitions: jobPartitions, indexes: ["open_jobs"] },
      uploads: { actions: ["GetObject", "ListBucket"] },
      splitQueue: { actions: ["SendMessage"] },
      chunksQueue: { actions: ["SendMessage"] },
    },
  },
  recordChanges: {
    summary: "Sends every change of a work item or an upload job to the queue of its organization's change log",
    trigger: {
      kind: "stream",
      table: "workItems",
      // The jobs of uploads, without their shards, which change all the time.
      partitions: [{ kind: "ITEM" }, { kind: "HEARTBEAT" }, { kind: "UPLOAD", sortKey: "#JOB" }],
      batchSize: 1000,
    },
    permissions: {
      changes: { actions: ["BatchGetItem", "PutItem"], partitions: ["NOTED_HEARTBEAT", "GAPS"] },
      changesQueue: { actions: ["SendMessage"] },
    },
  },
  appendChanges: {
    summary: "Appends changes to the change logs of their organizations, and notifies their webhooks",
    trigger: {
      kind: "queue",
      queue: "changesQueue",
      maximumConcurrency: 20,
      // The most that Lambda takes from a FIFO queue at once.
      batchSize: 10,
    },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["BatchGetItem"], partitions: ["UPLOAD"] },
      changes: { actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem"], partitions: ["LOG", "GAPS"] },
      webhooks: { actions: ["Query"], partitions: ["WEBHOOK_STATE"] },
      changesQueue: { actions: ["ChangeMessageVisibility"] },
      webhooksQueue: { actions: ["SendMessage"] },
    },
  },
  sweepChanges: {
    summary:
      "Measures and writes the stream's heartbeats, and where the table is; puts gaps into change logs that may lack changes",
    trigger: { kind: "schedule", everyMinutes: 10 },
    permissions: {
      access: { actions: ["GetItem", "Query"] },
      workItems: { actions: ["PutItem", "UpdateItem"], partitions: ["HEARTBEAT", "ORIGIN"] },
      // Only its name.
      audit: { actions: [] },
      changes: {
        actions: ["Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"],
        partitions: ["LOG", "GAPS", "NOTED_HEARTBEAT"],
        writes: ["LOG", "GAPS"],
      },
      webhooks: { actions: ["Query"], partitions: ["WEBHOOK_STATE"] },
      webhooksQueue: { actions: ["SendMessage"] },
    },
  },
  deliverWebhooks: {
    summary: "Notes news for webhooks, and calls their endpoints",
    // It waits for endpoints nearly all of its time.
    trigger: { kind: "queue", queue: "webhooksQueue", maximumConcurrency: 20, batchSize: 10 },
    permissions: {
      webhooks: {
        actions: ["Query", "GetItem", "BatchGetItem", "PutItem"],
        partitions: ["WEBHOOK", "WEBHOOK_SECRET", "WEBHOOK_STATE"],
        // Only people set URLs and secrets.
        writes: ["WEBHOOK_STATE"],
      },
      webhooksQueue: { actions: ["SendMessage"] },
    },
  },
  sweepWebhooks: {
    summary: "Has webhooks called for which something is due without a message",
    trigger: { kind: "schedule", everyMinutes: 1 },
    permissions: {
      webhooks: { actions: ["Query"], partitions: ["DUE_WEBHOOKS"], indexes: ["due"] },
      webhooksQueue: { actions: ["SendMessage"] },
    },
  },
  eraseExpired: {
    summary: "Erases work items after the time for which their organization keeps them",
    trigger: { kind: "schedule", everyMinutes: 15, timeoutMinutes: 15 },
    permissions: {
      access: { actions: ["GetItem", "Query"] },
      workItems: {
        // It writes a tombstone for an item that still has events.
        actions: ["Query", "PutItem", "DeleteItem", "ConditionCheckItem"],
        partitions: ["ITEM", "LIST_ITEM", "LIST_DELETED_ITEM"],
        writes: ["ITEM"],
        indexes: ["listing"],
      },
    },
  },
  recordQaScore: {
    summary: "Records the evaluation result of a work item",
    trigger: { kind: "direct" },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["GetItem", "UpdateItem"], partitions: ["ITEM"] },
    },
  },
  recordConversationUpload: {
    summary: "Creates or updates a conversation upload",
    trigger: { kind: "direct" },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], partitions: ["CONVERSATION"] },
    },
  },
} as const satisfies Record<string, Omit<Worker, "name">>;

/** The permissions of a worker, and that to read which version of data is stored (`lib/store/data-version.ts`). */
function readingVersion({ workItems, ...others }: Permissions): Permissions {
  const { actions = [], partitions = [], writes = partitions } = workItems ?? {};
  const reading = {
    actions: [...new Set([...actions, "GetItem"] as const)],
    partitions: [...partitions, "ORIGIN"] as const,
  };
  return { ...others, workItems: { ...workItems, ...reading, writes } };
}

/** All functions that aren't behind the gateway, by name. */
export const workers = Object.fromEntries(
  Object.entries(rows).map(([key, row]) => [
    key,
    { ...row, permissions: readingVersion(row.permissions), name: functionNameOf(key) },
  ]),
) as unknown as {
  readonly [N in keyof typeof rows]: (typeof rows)[N] & {
    readonly name: string;
    readonly permissions: Required<Pick<Permissions, "workItems">>;
  };
};

/** The same functions in order. */
export const allWorkers: readonly Worker[] = Object.values(workers);
