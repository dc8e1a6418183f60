import type { RuntimeWith } from "../../aws/runtime.ts";
import { type Frame, FrameWriter } from "../files/frames.ts";
import { CHUNK_LAYOUT, objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import type { UploadJob } from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";
import { createKeepClaim, StoppedError } from "./keep-claim.ts";

/** Limits of chunks. The same file must always give the same chunks (`CHUNK_LAYOUT`). */
export const CHUNK_LIMITS = {
  /** Size of a chunk: seconds of work. */
  rows: 10_000,
  bytes: 4 * 1024 * 1024,
  /** Bytes of a small file for each shard: enough to be worth its overhead. */
  shardBytes: 64 * 1024,
};

/** What writing chunks requires. */
export interface ChunkWriterDependencies extends Pick<RuntimeWith<never>, "clock"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  /** Reads consistently. @returns undefined if the organization doesn't exist or is being erased */
  readonly findOrganization: (id: string) => Promise<unknown>;
  /** @default CHUNK_LIMITS */
  readonly limits?: typeof CHUNK_LIMITS;
}

/** The rows of a shard that aren't in a chunk yet. */
interface OpenChunk {
  readonly frames: FrameWriter;
  rows: number;
  /** Number of chunks before this one. */
  number: number;
}

/** Writes the chunks of a job's shards. */
export class ChunkWriter {
  readonly #with: ChunkWriterDependencies;
  readonly #job: UploadJob;
  readonly #limits: typeof CHUNK_LIMITS;
  readonly #shards: readonly OpenChunk[];
  /** Renews the claim on the job now and then. @throws StoppedError */
  readonly keepClaim: () => Promise<void>;
  #rows = 0;

  constructor(dependencies: ChunkWriterDependencies, job: UploadJob, shards: number) {
    this.#with = dependencies;
    this.#job = job;
    this.#limits = dependencies.limits ?? CHUNK_LIMITS;
    this.#shards = Array.from({ length: shards }, () => ({ frames: new FrameWriter(), rows: 0, number: 0 }));
    this.keepClaim = createKeepClaim(dependencies, job);
  }

  /** Adds a row to a shard. If its chunk is full, returns a promise to await before the next call. @throws StoppedError */
  add(number: number, row: Frame): Promise<void> | undefined {
    const shard = this.#shards[number]!;
    shard.frames.add(row);
    shard.rows++;
    this.#rows++;
    const isFull = shard.rows >= this.#limits.rows || shard.frames.length >= this.#limits.bytes;
    return isFull ? this.#writeChunk(number) : undefined;
  }

  /** Writes the last chunks. @returns the number of chunks of each shard, and of all rows; no shards if there are no rows */
  async end(): Promise<{ readonly chunks: readonly number[]; readonly rows: number }> {
    for (const [number, { rows }] of this.#shards.entries()) if (rows > 0) await this.#writeChunk(number);
    return { chunks: this.#rows === 0 ? [] : this.#shards.map(({ number }) => number), rows: this.#rows };
  }

  async #writeChunk(shard: number): Promise<void> {
    const { objects, findOrganization } = this.#with;
    const open = this.#shards[shard]!;
    if ((await findOrganization(this.#job.organization)) === undefined) throw new StoppedError();
    await objects.write(
      objectKeys.chunk({ ...this.#job, layout: CHUNK_LAYOUT }, shard, open.number),
      open.frames.bytes(),
    );
    open.frames.clear();
    open.rows = 0;
    open.number++;
  }
}
