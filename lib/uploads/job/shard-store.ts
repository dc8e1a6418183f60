import { randomUUID } from "node:crypto";
import type { Attributes } from "../../aws/attribute-values.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Clock } from "../../clock.ts";
import { UPLOADS_KEPT_DAYS } from "../../periods.ts";
import { partitionKeyOf, TIME_TO_LIVE } from "../../resources.ts";
import { getItem } from "../../store/batch-get.ts";
import { changeRecord, type ConditionalUpdate } from "../../store/conditional-update.ts";
import { decoderOf } from "../../store/decode-record.ts";
import type { RecordKey } from "../../store/versioned-record.ts";
import { CLAIM_MS } from "./claim.ts";
import type { Counters } from "./counters.ts";
import { type UploadShard, uploadShardRecordSchema } from "./shard-record.ts";
import type { JobKey, UploadJob } from "./upload-record.ts";

/** Lifetime of a shard's record after its last claim and after its job's end: as long as its chunks and lists. */
const SHARD_KEPT_SECONDS = UPLOADS_KEPT_DAYS * 86_400;
/**
 * A worker renews its claim this long before the end: the SDK sends a write up to three times with timeouts of 5 s, and the
 * clocks of workers differ.
 */
export const CLAIM_MARGIN_MS = 20_000;

/** Partition of the records of a job and its shards. */
export function uploadPartition({ organization, id }: JobKey): string {
  return partitionKeyOf("UPLOAD", organization, id);
}
/** Primary key of the record of a shard. */
export function shardKey(job: JobKey, number: number): RecordKey {
  return { pk: uploadPartition(job), sk: `SHARD#${number}` };
}

/** Decodes the record of a shard. @throws MalformedRecordError */
export const shardFrom = decoderOf("shard of an upload job", uploadShardRecordSchema);

/** What a claim saves: the shard's counters, and which rows come next. */
export type ShardProgress = Pick<UploadShard, "next" | "after" | "rows_before" | "counted"> & Counters;

const IS_OWN = "#claim = :claim AND #claimed_by = :claimed_by";

/** The condition that a shard hasn't been claimed since it was read. */
function ifClaim(claim: number) {
  return claim === 0
    ? { condition: "attribute_not_exists(#claim)" }
    : { condition: "#claim = :claim", given: { claim } };
}

/** Changes the records of shards. Each change is one conditional write of absolute values, as for jobs. */
export class ShardStore {
  readonly #table: string;
  readonly #dynamodb: RuntimeWith<"workItems">["dynamodb"];
  readonly #clock: Clock;

  constructor({ dynamodb, environment, clock }: RuntimeWith<"workItems">) {
    this.#table = environment.WORK_ITEMS_TABLE;
    this.#dynamodb = dynamodb;
    this.#clock = clock;
  }

  /**
   * Claims a shard that no worker has.
   * @param options `closes`: claims it to count what was applied before a stop, and not to apply its next chunk.
   * `refusedSince`: the store has refused since then, so the previous claim couldn't be released; its worker didn't die
   * @returns undefined if the shard has changed since it was read, or must not be claimed
   */
  async claim(
    job: UploadJob,
    shard: UploadShard,
    { closes = false, refusedSince = 0 }: { readonly closes?: boolean; readonly refusedSince?: number } = {},
  ): Promise<UploadShard | undefined> {
    const now = this.#clock();
    const claimedBy = randomUUID();
    const key = shardKey(job, shard.number);
    const isUnchanged = ifClaim(shard.claim);
    const claimed = await this.#change({
      key,
      set: {
        number: shard.number,
        claim: shard.claim + 1,
        claimed_by: claimedBy,
        attempts: shard.attempts + (refusedSince > 0 ? 0 : 1),
        refused_since: shard.refused_since || refusedSince,
        busy_until: now + CLAIM_MS,
        changed_at: now,
        resent: 0,
        ...this.#kept(),
      },
      condition: [
        isUnchanged.condition,
        // `save`, which counts the last rows of a chunk, doesn't change the claim.
        "(attribute_not_exists(#next) OR #next = :next)",
        "(attribute_not_exists(#busy_until) OR #busy_until < :now)",
        `attribute_not_exists(${closes ? "#closed" : "#stop"})`,
      ].join(" AND "),
      given: { ...isUnchanged.given, now, next: shard.next },
    });
    return claimed ? shardFrom(claimed) : this.#find(job, { ...shard, claim: shard.claim + 1, claimed_by: claimedBy });
  }

  /** Looks for a claim after its write failed: a write whose response was lost fails when the SDK repeats it. */
  async #find(job: JobKey, { number, claim, claimed_by: claimedBy }: UploadShard): Promise<UploadShard | undefined> {
    const item = await getItem(this.#dynamodb, this.#table, shardKey(job, number));
    const found = item && shardFrom(item);
    return found?.claim === claim && found.claimed_by === claimedBy ? found : undefined;
  }

  /** Renews a claim. @returns undefined if the claim is lost or the shard must stop */
  renew(job: JobKey, shard: UploadShard): Promise<UploadShard | undefined> {
    const now = this.#clock();
    const set = { busy_until: now + CLAIM_MS, changed_at: now };
    // The worker that closes a stopped shard continues.
    const condition = shard.stop ? IS_OWN : `${IS_OWN} AND attribute_not_exists(#stop)`;
    return this.#changeOwn(job, shard, { set }, condition);
  }

  /**
   * Counts rows in one write, and continues with a new claim of the same worker.
   * @returns undefined if the claim is lost and nothing was counted
   */
  async saveAndGoOn(job: JobKey, shard: UploadShard, progress: ShardProgress): Promise<UploadShard | undefined> {
    const claim = shard.claim + 1;
    const set = { ...progress, claim, attempts: 1, busy_until: this.#clock() + CLAIM_MS };
    return (await this.#save(job, shard, set)) ?? this.#find(job, { ...shard, claim });
  }

  /** Counts rows in one write, and releases the claim. @returns undefined if the claim is lost and nothing was counted */
  save(job: JobKey, shard: UploadShard, progress: ShardProgress): Promise<UploadShard | undefined> {
    return this.#save(job, shard, { ...progress, attempts: 0, busy_until: 0 });
  }

  /** Closes a stopped shard. @param uncounted true if applied rows may be uncounted */
  async close(job: JobKey, shard: UploadShard, uncounted?: true): Promise<void> {
    const set = { closed: true, uncounted, attempts: 0, refused_since: 0, busy_until: 0, changed_at: this.#clock() };
    await this.#changeOwn(job, shard, { set });
  }

  #save(job: JobKey, shard: UploadShard, set: ShardProgress & Attributes): Promise<UploadShard | undefined> {
    return this.#changeOwn(job, shard, { set: { ...set, refused_since: 0, changed_at: this.#clock() } });
  }

  /**
   * Releases a claim. Some applied rows may be uncounted.
   * @param refusedUntil until when the next worker waits, if the store refused; otherwise 0
   * @returns false if the claim is lost, perhaps to the caller's own next one, whose response was lost
   */
  async release(job: JobKey, shard: UploadShard, refusedUntil = 0): Promise<boolean> {
    const now = this.#clock();
    const attempts = Math.max(0, shard.attempts - 1);
    const refused = { attempts, refused_since: shard.refused_since || now };
    const set = { busy_until: refusedUntil, changed_at: now, ...(refusedUntil > 0 && refused) };
    return (await this.#changeOwn(job, shard, { set })) !== undefined;
  }

  /**
   * Keeps workers from claiming a shard, and makes the one that has it stop. Closes it at once if it hasn't been claimed since
   * rows were last counted.
   */
  async stop(job: JobKey, shard: UploadShard): Promise<void> {
    const { number, claim, attempts, refused_since: refusedSince, stop } = shard;
    const key = shardKey(job, number);
    // A claim that counted nothing may have applied rows.
    if (attempts === 0 && refusedSince === 0) {
      if (await this.#change({ key, set: { number, stop: true, closed: true }, ...ifClaim(claim) })) return;
    }
    if (!stop) await this.#change({ key, set: { number, stop: true }, condition: "attribute_not_exists(#stop)" });
  }

  /** Counts that the sweep has sent a message for a shard. */
  async countResent(job: JobKey, { number, claim, resent }: UploadShard): Promise<void> {
    await this.#change({
      key: shardKey(job, number),
      set: { number, resent: resent + 1, resent_at: this.#clock() },
      ...ifClaim(claim),
    });
  }

  /** Keeps the records of a job's shards for as long after its end as an undo needs them. One that is missing stays so. */
  async keep(job: UploadJob): Promise<void> {
    const keep = (_: unknown, number: number) =>
      this.#change({ key: shardKey(job, number), set: this.#kept(), condition: "attribute_exists(#number)" });
    await Promise.all((job.chunks ?? []).map(keep));
  }

  #kept() {
    return { [TIME_TO_LIVE]: Math.ceil(this.#clock() / 1000) + SHARD_KEPT_SECONDS };
  }

  #change(change: ConditionalUpdate): Promise<Attributes | undefined> {
    return changeRecord(this.#dynamodb, this.#table, change);
  }

  /** Changes a shard on condition of the worker's claim. */
  async #changeOwn(
    job: JobKey,
    { number, claim, claimed_by: claimedBy }: UploadShard,
    change: Pick<ConditionalUpdate, "set">,
    condition = IS_OWN,
  ): Promise<UploadShard | undefined> {
    const given = { claim, claimed_by: claimedBy };
    const changed = await this.#change({ ...change, key: shardKey(job, number), condition, given });
    return changed && shardFrom(changed);
  }
}
