import type { PartitionKind, ResourceNameOf } from "../lib/resources.ts";
import type { Permissions } from "../lib/aws/permissions.ts";

/** What starts a function that is not behind the gateway. */
export type Trigger =
  | {
      readonly kind: "queue";
      readonly queue: ResourceNameOf<"queue">;
      /** Another queue of the same messages, of which at most two batches are handled at a time. @default none */
      readonly also?: ResourceNameOf<"queue">;
      readonly maximumConcurrency: number;
      /** Most messages that one instance gets at once, and handles at the same time. @default 1 */
      readonly batchSize?: number;
    }
  /** The dead letters of these queues. */
  | { readonly kind: "dead-letters"; readonly queues: readonly ("splitQueue" | "partsQueue")[] }
  /** The stream of a table's keys: only records whose partition keys begin with one of these prefixes. */
  | {
      readonly kind: "stream";
      readonly table: "workItems";
      readonly partitions: readonly PartitionKind[];
      /** The most records that one invocation gets. */
      readonly batchSize: number;
    }
  | { readonly kind: "schedule"; readonly everyMinutes: number }
  /** Invoked by other systems of the same account, by IAM alone. */
  | { readonly kind: "direct" };

/** One Lambda behind a queue, a schedule or a direct invocation. */
export interface Worker {
  /** Also the file name of the Lambda in `functions/`. */
  readonly name: string;
  readonly summary: string;
  readonly trigger: Trigger;
  readonly permissions: Permissions;
}

const jobPartitions = ["UPLOAD", "OPEN_UPLOADS", "OPEN_UPLOADS_OF"] as const;

/** All functions that are not behind the gateway, by the name that the code uses for each. */
export const workers = {
  splitUpload: {
    name: "split-upload",
    summary: "Reads an uploaded CSV file once and cuts it into parts",
    trigger: { kind: "queue", queue: "splitQueue", maximumConcurrency: 5 },
    permissions: {
      workItems: { actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem"], partitions: jobPartitions },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
      splitQueue: { actions: ["SendMessage"] },
      partsQueue: { actions: ["SendMessage"] },
    },
  },
  applyUploadPart: {
    name: "apply-upload-part",
    summary: "Applies the rows of one part, window by window",
    // While one part waits for DynamoDB or S3, the others use the CPU (`npm run bench -- latencies`).
    trigger: { kind: "queue", queue: "partsQueue", maximumConcurrency: 20, batchSize: 4 },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: {
        actions: [
          "Query",
          "GetItem",
          "BatchGetItem",
          "PutItem",
          "UpdateItem",
          "DeleteItem",
          "PartiQLInsert",
          "PartiQLUpdate",
        ],
        partitions: [...jobPartitions, "ITEM", "DRY_RUN"],
      },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
      partsQueue: { actions: ["SendMessage"] },
    },
  },
  sweepUploads: {
    name: "sweep-uploads",
    summary: "Resumes upload jobs that lost a message or a worker; ends those that can no longer complete",
    trigger: { kind: "schedule", everyMinutes: 1 },
    permissions: {
      workItems: {
        actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"],
        partitions: jobPartitions,
      },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
      splitQueue: { actions: ["SendMessage"] },
      partsQueue: { actions: ["SendMessage"] },
    },
  },
  failDeadUpload: {
    name: "fail-dead-upload",
    summary: "Ends the job of a message that exhausted its receives",
    trigger: { kind: "dead-letters", queues: ["splitQueue", "partsQueue"] },
    permissions: {
      workItems: { actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem"], partitions: jobPartitions },
      uploads: { actions: ["GetObject", "PutObject", "ListBucket"] },
    },
  },
  recordChanges: {
    name: "record-changes",
    summary: "Sends every change of a work item to the queue of its organization's change log",
    trigger: { kind: "stream", table: "workItems", partitions: ["ITEM", "HEARTBEAT"], batchSize: 1000 },
    permissions: {
      changes: { actions: ["BatchGetItem", "PutItem"], partitions: ["NOTED_HEARTBEAT", "HOLES"] },
      changesQueue: { actions: ["SendMessage"] },
    },
  },
  appendChanges: {
    name: "append-changes",
    summary: "Appends changes to the change logs of their organizations",
    trigger: {
      kind: "queue",
      queue: "changesQueue",
      also: "heldChangesQueue",
      maximumConcurrency: 20,
      // The most that Lambda takes from a FIFO queue at once.
      batchSize: 10,
    },
    permissions: {
      access: { actions: ["GetItem"] },
      changes: { actions: ["Query", "GetItem", "PutItem", "UpdateItem"], partitions: ["LOG", "HOLES"] },
      changesQueue: { actions: ["ChangeMessageVisibility"] },
      heldChangesQueue: { actions: ["SendMessage", "ChangeMessageVisibility"] },
    },
  },
  sweepChanges: {
    name: "sweep-changes",
    summary: "Writes the stream's heartbeats; puts holes into change logs that may lack changes",
    trigger: { kind: "schedule", everyMinutes: 10 },
    permissions: {
      access: { actions: ["GetItem", "Query"] },
      workItems: { actions: ["PutItem"], partitions: ["HEARTBEAT"] },
      changes: { actions: ["Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem"], partitions: ["LOG", "HOLES"] },
    },
  },
  recordQaScore: {
    name: "record-qa-score",
    summary: "Records the evaluation result of a work item",
    trigger: { kind: "direct" },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["GetItem", "UpdateItem"], partitions: ["ITEM"] },
    },
  },
  recordConversationUpload: {
    name: "record-conversation-upload",
    summary: "Creates or updates a conversation upload",
    trigger: { kind: "direct" },
    permissions: {
      access: { actions: ["GetItem"] },
      workItems: { actions: ["BatchGetItem", "PutItem", "UpdateItem"], partitions: ["CONVERSATION"] },
    },
  },
} as const satisfies Record<string, Worker>;

/** The same functions in order. */
export const allWorkers: readonly Worker[] = Object.values(workers);
