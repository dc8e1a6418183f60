import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { LISTING_PARTITION_KEY, LISTING_SORT_KEY, PARTITION_KEY, SORT_KEY, TIME_TO_LIVE } from "../aws/tables.ts";
import { backOff } from "../backoff.ts";
import { type Clock, isoTime } from "../clock.ts";
import { StoreBusyError } from "../errors.ts";
import type { Organization } from "../organizations/organization.ts";
import { type ConditionalUpdate, toUpdate } from "./conditional-update.ts";
import type { JobKey } from "./upload-objects.ts";
import {
  type Counters,
  LEASE_MS,
  type SplitProgress,
  UNSPLIT,
  UNTOUCHED,
  type UploadJob,
  type UploadPart,
  type UploadSnapshot,
} from "./upload-record.ts";

/** Somebody else has claimed the record since, or it must not change any more: whatever this worker does is void. */
export class LeaseLostError extends Error {}

/** Partitions of the open jobs, so that their writes are not held to one partition's throughput. */
const OPEN_SHARDS = 8;
/** Segments and reports expire then, so that no part can outlive it. */
const PART_DAYS = 30;
const DAY_SECONDS = 86_400;
/** Transactions on a job that its other writers may be changing at the moment. */
const ATTEMPTS_MAX = 8;

const OPEN = "OPEN_UPLOADS";
const JOB_SORT_KEY = "#JOB";
const PART_PREFIX = "PART#";

type Item = Record<string, unknown>;
/** A claimed job or part: what its owner may change. */
export type Claimed<T> = T & { readonly owner: string };

export type Claim<T> =
  | { readonly state: "claimed"; readonly record: Claimed<T> }
  /** Somebody else holds it, or it must not be claimed any more. */
  | { readonly state: "refused"; readonly record: T };

/** A job that is not known to have ended, by its record among the open ones. */
export interface OpenUpload extends JobKey {
  readonly due: string;
}

const partitionOf = ({ organization, id }: JobKey): string => `UPLOAD#${organization}#${id}`;
const jobKey = (job: JobKey) => ({ [PARTITION_KEY]: partitionOf(job), [SORT_KEY]: JOB_SORT_KEY });
const partKey = (job: JobKey, number: number) => ({
  [PARTITION_KEY]: partitionOf(job),
  [SORT_KEY]: `${PART_PREFIX}${String(number).padStart(2, "0")}`,
});
const openKey = ({ organization, id }: JobKey, due: string) => ({
  [PARTITION_KEY]: `${OPEN}#${crc32(id) % OPEN_SHARDS}`,
  [SORT_KEY]: `${due}#${organization}#${id}`,
});
const openItem = ({ organization, id }: JobKey, at: number) => ({
  ...openKey({ organization, id }, isoTime(at)),
  organization,
  id,
});

/** First part of the listing index's partitions that hold jobs. */
export const LISTING = "LIST_UPLOAD";

export const jobFrom = (item: Item): UploadJob => ({ ...UNSPLIT, ...item }) as unknown as UploadJob;
const partFrom = (item: Item): UploadPart => ({ ...UNTOUCHED, ...item }) as unknown as UploadPart;

const isConditionFailure = (error: unknown): boolean =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";
const isCancelled = (error: unknown): boolean =>
  error instanceof Error && error.name === "TransactionCanceledException";

/** The outcome of a claim, whether the answer to its write came or was lost. */
const outcomeOf = <T extends { readonly owner?: string }>(record: T, owner: string): Claim<T> =>
  record.owner === owner ? { state: "claimed", record: record as Claimed<T> } : { state: "refused", record };

const splitterIsOwner =
  "#owner = :owner AND #epoch = :epoch AND attribute_not_exists(#published) AND attribute_not_exists(#stopping) AND attribute_exists(#next_check)";
const partIsOwned = "#owner = :owner AND #epoch = :epoch AND #segment = :segment AND #offset = :offset";

/** Upload jobs, their parts and the index of those still open. Every change is one conditional write. */
export const createUploadStore = (dynamodb: DynamoDBDocumentClient, table: string, clock: Clock) => {
  /** The record after the change; null where the condition did not hold. */
  const update = async (change: ConditionalUpdate): Promise<Item | null> => {
    try {
      const { Attributes } = await dynamodb.send(
        new UpdateCommand({ ...toUpdate(table, change), ReturnValues: "ALL_NEW" }),
      );
      return Attributes ?? {};
    } catch (error) {
      if (isConditionFailure(error)) return null;
      throw error;
    }
  };
  const get = async (key: Item): Promise<Item | undefined> =>
    (await dynamodb.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  const readJob = async (job: JobKey): Promise<UploadJob | undefined> => {
    const item = await get(jobKey(job));
    return item && jobFrom(item);
  };

  /** False where a condition did not hold, or somebody else was writing. */
  const transact = async (actions: TransactWriteCommandInput["TransactItems"]): Promise<boolean> => {
    try {
      await dynamodb.send(new TransactWriteCommand({ TransactItems: actions }));
      return true;
    } catch (error) {
      if (isCancelled(error)) return false;
      throw error;
    }
  };

  const claimed = () => {
    const now = clock();
    return { owner: randomUUID(), lease_until: now + LEASE_MS, changed_at: now };
  };
  const renewed = () => {
    const now = clock();
    return { lease_until: now + LEASE_MS, changed_at: now };
  };
  const released = () => ({ lease_until: 0, changed_at: clock() });

  const saveSplit = async (job: Claimed<UploadJob>, set: Item, isSaved: (now: UploadJob) => boolean) => {
    const { owner, epoch, offset } = job;
    const saved = await update({
      key: jobKey(job),
      set,
      condition: `${splitterIsOwner} AND #offset = :offset`,
      given: { owner, epoch, offset },
    });
    if (saved !== null) return jobFrom(saved) as Claimed<UploadJob>;
    const now = await readJob(job);
    if (now?.owner !== owner || now.epoch !== epoch || !isSaved(now)) throw new LeaseLostError();
    return now as Claimed<UploadJob>;
  };

  return {
    readJob,

    /** The job and its parts in one strongly consistent read. */
    read: async (job: JobKey): Promise<UploadSnapshot | undefined> => {
      const items: Item[] = [];
      let from: Item | undefined;
      do {
        const { Items = [], LastEvaluatedKey } = await dynamodb.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: "pk = :pk",
            ExpressionAttributeValues: { ":pk": partitionOf(job) },
            ConsistentRead: true,
            ...(from && { ExclusiveStartKey: from }),
          }),
        );
        items.push(...Items);
        from = LastEvaluatedKey;
      } while (from);
      const [first, ...parts] = items;
      return first?.[SORT_KEY] === JOB_SORT_KEY ? { job: jobFrom(first), parts: parts.map(partFrom) } : undefined;
    },

    /** Makes a job unless there is one of its id. @returns the one that is there */
    create: async (
      organization: Organization,
      made: Pick<UploadJob, "id" | "origin" | "content_hash" | "expected_size">,
      nextCheck: number,
    ): Promise<{ readonly job: UploadJob; readonly created: boolean }> => {
      const now = isoTime(clock());
      const job = {
        ...made,
        organization: organization.id,
        status: "pending" as const,
        created_at: now,
        updated_at: now,
        next_check: isoTime(nextCheck),
        total_rows: 0,
        succeeded_rows: 0,
        failed_rows: 0,
      };
      const listing = {
        [LISTING_PARTITION_KEY]: `${LISTING}#${organization.id}#${crc32(job.id) % organization.listingShards}`,
        [LISTING_SORT_KEY]: `${now}#${job.id}`,
      };
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const created = await transact([
          {
            Put: {
              TableName: table,
              Item: { ...jobKey(job), ...job, ...listing },
              ConditionExpression: "attribute_not_exists(pk)",
            },
          },
          { Put: { TableName: table, Item: openItem(job, nextCheck) } },
        ]);
        if (created) return { job: jobFrom(job), created };
        const existing = await readJob(job);
        if (existing) return { job: existing, created };
        await backOff(attempt);
      }
      throw new StoreBusyError("the upload could not be recorded; send it again");
    },

    /** Takes the splitting of a job that nobody holds. */
    claimSplit: async (
      job: JobKey,
      source: { readonly etag: string; readonly size: number; readonly parts: number },
    ): Promise<Claim<UploadJob>> => {
      const claim = claimed();
      const item = await update({
        key: jobKey(job),
        set: {
          ...claim,
          status: "processing",
          source_etag: source.etag,
          source_size: source.size,
          part_count: source.parts,
        },
        add: { epoch: 1, stalls: 1, offset: 0, row: 0, rows: 0 },
        condition: [
          "attribute_exists(#next_check)",
          "attribute_not_exists(#published)",
          "attribute_not_exists(#stopping)",
          "(attribute_not_exists(#lease_until) OR #lease_until < :now)",
          "(attribute_not_exists(#source_etag) OR #source_etag = :etag)",
        ].join(" AND "),
        given: { now: clock(), etag: source.etag },
      });
      const record = item ? jobFrom(item) : await readJob(job);
      if (!record) throw new LeaseLostError();
      return outcomeOf(record, claim.owner);
    },

    /** @throws LeaseLostError */
    saveSplit: (job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> =>
      saveSplit(job, { ...progress, ...renewed(), stalls: 0 }, (now) => now.offset === progress.offset),

    /** Lets another worker go on from the checkpoint. A job that is lost already is none of ours. */
    releaseSplit: async (job: Claimed<UploadJob>): Promise<void> => {
      const { owner, epoch } = job;
      await update({ key: jobKey(job), set: released(), condition: splitterIsOwner, given: { owner, epoch } });
    },

    /** Says in one write that all rows are in segments. @throws LeaseLostError */
    publish: (job: Claimed<UploadJob>, progress: SplitProgress): Promise<Claimed<UploadJob>> =>
      saveSplit(
        job,
        {
          ...progress,
          ...released(),
          published: true,
          total_rows: progress.rows,
          ...(progress.rows === 0 && { part_count: 0 }),
          updated_at: isoTime(clock()),
        },
        (now) => now.published === true,
      ),

    /** Takes a part that nobody holds. */
    claimPart: async (job: UploadJob, number: number): Promise<Claim<UploadPart>> => {
      const claim = claimed();
      const key = partKey(job, number);
      const item = await update({
        key,
        set: {
          ...claim,
          number,
          state: "open",
          [TIME_TO_LIVE]: Math.ceil(Date.parse(job.created_at) / 1000) + PART_DAYS * DAY_SECONDS,
        },
        add: { epoch: 1, stalls: 1, segment: 0, offset: 0, succeeded: 0, failed: 0 },
        condition:
          "attribute_not_exists(#pk) OR (#state = :open AND #lease_until < :now AND attribute_not_exists(#stop))",
        given: { open: "open", now: clock() },
      });
      const record = item ?? (await get(key));
      if (!record) throw new LeaseLostError();
      return outcomeOf(partFrom(record), claim.owner);
    },

    /**
     * Moves checkpoint, counters and failed rows together.
     * @param progress where `state` is not open, nobody claims the part again
     * @throws LeaseLostError
     */
    savePart: async (
      job: JobKey,
      part: Claimed<UploadPart>,
      progress: Partial<Pick<UploadPart, "segment" | "offset" | "failures" | "state"> & Counters>,
    ): Promise<Claimed<UploadPart>> => {
      const { owner, epoch, segment, offset } = part;
      const next = { ...part, ...progress };
      const moved = next.segment !== segment || next.offset !== offset;
      const lease = next.state === "open" ? renewed() : released();
      const key = partKey(job, part.number);
      const saved = await update({
        key,
        set: { ...progress, ...lease, ...(moved && { stalls: 0 }) },
        condition: partIsOwned,
        given: { owner, epoch, segment, offset },
      });
      if (saved !== null) return partFrom(saved) as Claimed<UploadPart>;
      const now = partFrom((await get(key)) ?? {});
      const isSaved = now.segment === next.segment && now.offset === next.offset && now.state === next.state;
      if (now.owner !== owner || now.epoch !== epoch || !isSaved) throw new LeaseLostError();
      return now as Claimed<UploadPart>;
    },

    /** Lets another worker go on from the checkpoint. A part that is lost already is none of ours. */
    releasePart: async (job: JobKey, { number, owner, epoch }: Claimed<UploadPart>): Promise<void> => {
      await update({
        key: partKey(job, number),
        set: released(),
        condition: "#owner = :owner AND #epoch = :epoch",
        given: { owner, epoch },
      });
    },

    /**
     * Says what the job is to become; from then on no part of it is claimed.
     * @returns false where it has ended, or somebody said so before
     */
    requestStop: async (
      job: JobKey,
      stopping: NonNullable<UploadJob["stopping"]>,
      options: { readonly error?: string; readonly unlessPublished?: boolean } = {},
    ): Promise<boolean> => {
      const stopped = await update({
        key: jobKey(job),
        set: { stopping, error: options.error, changed_at: clock() },
        condition: [
          "attribute_exists(#next_check)",
          "attribute_not_exists(#stopping)",
          ...(options.unlessPublished ? ["attribute_not_exists(#published)"] : []),
        ].join(" AND "),
      });
      return stopped !== null;
    },

    /** Lets no worker claim the part again, and the one that holds it stop at its next checkpoint. */
    stopPart: async (job: JobKey, number: number): Promise<void> => {
      await update({
        key: partKey(job, number),
        set: { stop: true, number },
        condition: "attribute_not_exists(#stop)",
      });
    },

    /** Freezes an open job and takes it out of the open ones. Of several who do so at once, the first stands. */
    end: async (
      job: JobKey,
      outcome: { readonly status: "completed" | "failed" | "cancelled"; readonly error?: string } & Counters,
    ): Promise<void> => {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const stored = await readJob(job);
        if (stored?.next_check === undefined) return;
        if (stored.stopping && outcome.status === "completed") return;
        const ended = await transact([
          {
            Update: toUpdate(table, {
              key: jobKey(job),
              set: {
                status: outcome.status,
                error: outcome.error,
                succeeded_rows: outcome.succeeded,
                failed_rows: outcome.failed,
                updated_at: isoTime(clock()),
              },
              remove: ["next_check", "lease_until"],
              condition:
                outcome.status === "completed"
                  ? "#next_check = :check AND attribute_not_exists(#stopping)"
                  : "#next_check = :check",
              given: { check: stored.next_check },
            }),
          },
          { Delete: { TableName: table, Key: openKey(job, stored.next_check) } },
        ]);
        if (ended) return;
        await backOff(attempt);
      }
      throw new StoreBusyError("the upload could not be ended");
    },

    /** The open jobs that are due for a look. */
    openUploads: async function* (now: number): AsyncGenerator<OpenUpload> {
      for (let shard = 0; shard < OPEN_SHARDS; shard++) {
        let from: Item | undefined;
        do {
          const { Items = [], LastEvaluatedKey } = await dynamodb.send(
            new QueryCommand({
              TableName: table,
              KeyConditionExpression: "pk = :pk AND sk < :now",
              ExpressionAttributeValues: { ":pk": `${OPEN}#${shard}`, ":now": isoTime(now) },
              ...(from && { ExclusiveStartKey: from }),
            }),
          );
          for (const item of Items) {
            const { organization, id } = item as unknown as JobKey;
            yield { organization, id, due: String(item[SORT_KEY]).split("#")[0]! };
          }
          from = LastEvaluatedKey;
        } while (from);
      }
    },

    /** Puts off the next look at an open job. One that has ended, or that somebody else put off, stays as it is. */
    checkAgain: async (job: UploadJob, at: number): Promise<void> => {
      if (job.next_check === undefined) return;
      await transact([
        {
          Update: toUpdate(table, {
            key: jobKey(job),
            set: { next_check: isoTime(at) },
            condition: "#next_check = :check",
            given: { check: job.next_check },
          }),
        },
        { Delete: { TableName: table, Key: openKey(job, job.next_check) } },
        { Put: { TableName: table, Item: openItem(job, at) } },
      ]);
    },

    /** Removes the mark of an open job where there is none. */
    forgetOpen: async (open: OpenUpload): Promise<void> => {
      await dynamodb.send(new DeleteCommand({ TableName: table, Key: openKey(open, open.due) }));
    },
  };
};

export type UploadStore = ReturnType<typeof createUploadStore>;
