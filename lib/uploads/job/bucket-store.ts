import { randomUUID } from "node:crypto";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Clock } from "../../clock.ts";
import { partitionKeyOf, TIME_TO_LIVE } from "../../resources.ts";
import { getItem } from "../../store/batch-get.ts";
import { changeRecord, type ConditionalUpdate } from "../../store/conditional-update.ts";
import { decoderOf } from "../../store/decode-record.ts";
import type { RecordKey } from "../../store/versioned-record.ts";
import { UPLOADS_KEPT_DAYS } from "./kept-until.ts";
import { type Counters, type UploadBucket, uploadBucketRecordSchema } from "./bucket-record.ts";
import type { JobKey, UploadJob } from "./upload-record.ts";

/** Lifetime of a bucket's record: as long as that of chunks and reports. An undo begins at most 28 days after the job has ended. */
const BUCKET_KEPT_SECONDS = UPLOADS_KEPT_DAYS * 86_400;
/** A worker that has noted nothing for this long has lost its claim. */
export const CLAIM_MS = 40_000;
/**
 * No write is sent so shortly before the end of a claim: the SDK sends one up to three times, each with a time-out of 5 s,
 * and the clocks of two workers differ.
 */
export const CLAIM_MARGIN_MS = 20_000;

/** Partition of the records of a job and its buckets. */
export function uploadPartition({ organization, id }: JobKey): string {
  return partitionKeyOf("UPLOAD", organization, id);
}
/** Primary key of the record of a bucket. */
export function bucketKey(job: JobKey, number: number): RecordKey {
  return { pk: uploadPartition(job), sk: `BUCKET#${number}` };
}

/** Decodes the record of a bucket. @throws MalformedRecordError */
export const bucketFrom = decoderOf("bucket of an upload job", uploadBucketRecordSchema);

/** What a worker's claim counted. */
export type BucketProgress = Pick<UploadBucket, "next" | "after" | "rows_before" | "counted"> & Counters;

const IS_OWN = "#claim = :claim AND #claimed_by = :claimed_by";

/** The condition that a bucket has not been claimed since it was read. */
function ifClaim(claim: number) {
  return claim === 0
    ? { condition: "attribute_not_exists(#claim)" }
    : { condition: "#claim = :claim", given: { claim } };
}

/** Changes the records of buckets. Every change is one conditional write with absolute values, as those of jobs are. */
export class BucketStore {
  readonly #table: string;
  readonly #dynamodb: RuntimeWith<"workItems">["dynamodb"];
  readonly #clock: Clock;

  constructor({ dynamodb, environment, clock }: RuntimeWith<"workItems">) {
    this.#table = environment.WORK_ITEMS_TABLE;
    this.#dynamodb = dynamodb;
    this.#clock = clock;
  }

  /**
   * Claims a bucket that no worker has.
   * @param options `closes`: to count what was applied before a stop, otherwise to apply its next chunk. `refusedSince`: the
   * claim before could not be given back because the store has refused since then, and its worker hasn't died
   * @returns undefined if the bucket has changed since it was read, or must not be claimed
   */
  async claim(
    job: UploadJob,
    bucket: UploadBucket,
    { closes = false, refusedSince = 0 }: { readonly closes?: boolean; readonly refusedSince?: number } = {},
  ): Promise<UploadBucket | undefined> {
    const now = this.#clock();
    const claimedBy = randomUUID();
    const key = bucketKey(job, bucket.number);
    const isUnchanged = ifClaim(bucket.claim);
    const claimed = await this.#change({
      key,
      set: {
        number: bucket.number,
        claim: bucket.claim + 1,
        claimed_by: claimedBy,
        attempts: bucket.attempts + (refusedSince > 0 ? 0 : 1),
        refused_since: bucket.refused_since || refusedSince,
        busy_until: now + CLAIM_MS,
        changed_at: now,
        resent: 0,
        [TIME_TO_LIVE]: Math.ceil(Date.parse(job.created_at) / 1000) + BUCKET_KEPT_SECONDS,
      },
      condition: [
        isUnchanged.condition,
        // Counting the last rows of a chunk leaves the claim as it is.
        "(attribute_not_exists(#next) OR #next = :next)",
        "(attribute_not_exists(#busy_until) OR #busy_until < :now)",
        `attribute_not_exists(${closes ? "#closed" : "#stop"})`,
      ].join(" AND "),
      given: { ...isUnchanged.given, now, next: bucket.next },
    });
    return claimed
      ? bucketFrom(claimed)
      : this.#find(job, { ...bucket, claim: bucket.claim + 1, claimed_by: claimedBy });
  }

  /** Finds a claim whose write failed: if its response was lost, it was repeated, and failed because of the first. */
  async #find(job: JobKey, { number, claim, claimed_by: claimedBy }: UploadBucket): Promise<UploadBucket | undefined> {
    const item = await getItem(this.#dynamodb, this.#table, bucketKey(job, number));
    const found = item && bucketFrom(item);
    return found?.claim === claim && found.claimed_by === claimedBy ? found : undefined;
  }

  /** Renews a claim. @returns undefined if the claim is lost, or the bucket is to stop */
  renew(job: JobKey, bucket: UploadBucket): Promise<UploadBucket | undefined> {
    const now = this.#clock();
    const set = { busy_until: now + CLAIM_MS, changed_at: now };
    // A worker that closes a stopped bucket continues.
    const condition = bucket.stop ? IS_OWN : `${IS_OWN} AND attribute_not_exists(#stop)`;
    return this.#changeOwn(job, bucket, { set }, condition);
  }

  /**
   * Counts rows in one write, and goes on with a new claim of the same worker.
   * @returns undefined if the claim is lost: then nothing is counted
   */
  async saveAndGoOn(job: JobKey, bucket: UploadBucket, progress: BucketProgress): Promise<UploadBucket | undefined> {
    const claim = bucket.claim + 1;
    const set = { ...progress, claim, attempts: 1, busy_until: this.#clock() + CLAIM_MS };
    return (await this.#save(job, bucket, set)) ?? this.#find(job, { ...bucket, claim });
  }

  /** Counts rows in one write, and gives the claim back. @returns undefined if the claim is lost: then nothing is counted */
  save(job: JobKey, bucket: UploadBucket, progress: BucketProgress): Promise<UploadBucket | undefined> {
    return this.#save(job, bucket, { ...progress, attempts: 0, busy_until: 0 });
  }

  /** Gives the claim of a stopped bucket back for good: all rows that were applied are counted, or can't be. */
  async close(job: JobKey, bucket: UploadBucket, uncounted?: true): Promise<void> {
    const set = { closed: true, uncounted, attempts: 0, refused_since: 0, busy_until: 0, changed_at: this.#clock() };
    await this.#changeOwn(job, bucket, { set });
  }

  #save(job: JobKey, bucket: UploadBucket, set: BucketProgress & Attributes): Promise<UploadBucket | undefined> {
    return this.#changeOwn(job, bucket, { set: { ...set, refused_since: 0, changed_at: this.#clock() } });
  }

  /**
   * Gives a claim back although rows may be applied that aren't counted.
   * @param refusedUntil until when the next worker is to wait for the store; 0 if it was not the store
   * @returns false if it is another claim's by now, which may be the caller's own: a write whose response was lost
   */
  async release(job: JobKey, bucket: UploadBucket, refusedUntil = 0): Promise<boolean> {
    const now = this.#clock();
    const attempts = Math.max(0, bucket.attempts - 1);
    const refused = { attempts, refused_since: bucket.refused_since || now };
    const set = { busy_until: refusedUntil, changed_at: now, ...(refusedUntil > 0 && refused) };
    return (await this.#changeOwn(job, bucket, { set })) !== undefined;
  }

  /**
   * Keeps workers from claiming a bucket, and makes the one that has it stop. If no worker has
   * claimed it since rows were counted, it is closed at once.
   */
  async stop(job: JobKey, bucket: UploadBucket): Promise<void> {
    const { number, claim, attempts, refused_since: refusedSince, stop } = bucket;
    const key = bucketKey(job, number);
    // A claim that counted nothing may have applied rows.
    if (attempts === 0 && refusedSince === 0) {
      if (await this.#change({ key, set: { number, stop: true, closed: true }, ...ifClaim(claim) })) return;
    }
    if (!stop) await this.#change({ key, set: { number, stop: true }, condition: "attribute_not_exists(#stop)" });
  }

  /** Counts that the sweep has sent a message for a bucket. */
  async countResent(job: JobKey, { number, claim, resent }: UploadBucket): Promise<void> {
    await this.#change({
      key: bucketKey(job, number),
      set: { number, resent: resent + 1, resent_at: this.#clock() },
      ...ifClaim(claim),
    });
  }

  #change(change: ConditionalUpdate): Promise<Attributes | undefined> {
    return changeRecord(this.#dynamodb, this.#table, change);
  }

  /** Changes a bucket that the worker has claimed. */
  async #changeOwn(
    job: JobKey,
    { number, claim, claimed_by: claimedBy }: UploadBucket,
    change: Pick<ConditionalUpdate, "set">,
    condition = IS_OWN,
  ): Promise<UploadBucket | undefined> {
    const given = { claim, claimed_by: claimedBy };
    const changed = await this.#change({ ...change, key: bucketKey(job, number), condition, given });
    return changed && bucketFrom(changed);
  }
}
