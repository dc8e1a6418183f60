import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Organization } from "../../organizations/organization.ts";
import { traceOf } from "../../error-trace.ts";
import { type CsvFormat, formatOf } from "../mapping/file-format.ts";
import { readRows, type Row } from "../files/frames.ts";
import { createReportWriter, furtherColumnsOf } from "../files/row-list.ts";
import { objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import type { FindEndedJobs } from "../job/ended-jobs.ts";
import { sumOf } from "../job/counters.ts";
import { type UploadShard, withClaim } from "../job/shard-record.ts";
import { chunkSource, mappingOf, type Undone, undoneBy, type UploadJob } from "../job/upload-record.ts";
import { CLAIM_MARGIN_MS } from "../job/shard-store.ts";
import { WINDOW_ROWS_MAX } from "../job/started-rows.ts";
import type { UploadStore } from "../job/upload-store.ts";
import type { ApplyRows, ApplyRowsOptions } from "./apply-rows.ts";
import type { UndoRows } from "./undo-rows.ts";
import { countRows, type RowResult } from "./row-result.ts";

/** Limits of a window, whose rows are applied and counted together. */
const WINDOW_LIMITS = { rows: WINDOW_ROWS_MAX, bytes: 512 * 1024 };
/** Share of a full window's rows after the store has refused or a worker has died: a hundred rows. */
const SMALL_SHARE = 0.1;

/** Another worker has claimed the shard, or the shard must stop. */
export class ClaimLostError extends Error {
  override readonly name: string = "ClaimLostError";
}

/** What applying rows of chunks requires. */
export interface ChunkDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  /** Reads consistently. @returns undefined if the organization doesn't exist or is being erased */
  readonly findOrganization: (id: string) => Promise<Organization | undefined>;
  readonly findEndedJobs: FindEndedJobs;
  readonly applyRows: ApplyRows;
  readonly undoRows: UndoRows;
  /** @default WINDOW_LIMITS */
  readonly limits?: typeof WINDOW_LIMITS;
}

/** Rows that are applied and counted together. */
interface Window {
  readonly rows: readonly Row[];
  /** Whether they are the chunk's last. */
  readonly isLast: boolean;
}

/** A shard that this worker has claimed. */
export class ClaimedShard {
  readonly #with: ChunkDependencies;
  readonly #job: UploadJob;
  readonly #organization: Organization;
  readonly #format: CsvFormat;
  readonly #undone: Undone | undefined;
  readonly #toLine: ReturnType<typeof createReportWriter>["line"];
  /** Requests aren't retried after this time, in milliseconds since the epoch. */
  readonly #deadline: number;
  #shard: UploadShard;
  #rowsCounted = 0;

  constructor(
    dependencies: ChunkDependencies,
    job: UploadJob,
    organization: Organization,
    claimed: UploadShard,
    deadline: number,
  ) {
    this.#with = dependencies;
    this.#job = job;
    this.#organization = organization;
    const mapping = mappingOf(job);
    this.#format = formatOf(job.header, mapping);
    this.#undone = undoneBy(job, mapping);
    this.#toLine = createReportWriter(this.#format).line;
    this.#shard = claimed;
    this.#deadline = deadline;
  }

  /** The shard's record as this worker saved it last. */
  get record(): UploadShard {
    return this.#shard;
  }

  /** Rows that this worker has counted. */
  get rowsCounted(): number {
    return this.#rowsCounted;
  }

  /**
   * Applies the shard's chunk window by window until it ends or the time is over. Each window is counted in one write.
   * @param until milliseconds since the epoch
   * @throws ClaimLostError, StoreBusyError, ObjectGoneError, and errors of requests
   */
  async apply(until: number): Promise<void> {
    const { clock, store } = this.#with;
    for await (const { rows, isLast } of this.#windows()) {
      const progress = await this.#write(rows, await this.#applyRows(rows, false), isLast);
      const goesOn = !isLast && clock() < until;
      const saved = goesOn
        ? await store.shards.saveAndGoOn(this.#job, this.#shard, progress)
        : await store.shards.save(this.#job, this.#shard, progress);
      if (saved === undefined) throw new ClaimLostError();
      this.#shard = saved;
      this.#rowsCounted += rows.length;
      if (!goesOn) return;
      if (saved.stop) return store.shards.close(this.#job, saved);
    }
  }

  /** Counts the rows of the shard's chunk that were applied and not counted, without applying others. Then closes the shard. */
  async close(): Promise<void> {
    for await (const { rows } of this.#windows()) {
      const progress = await this.#write(rows, await this.#applyRows(rows, true), false);
      const saved = await this.#with.store.shards.saveAndGoOn(this.#job, this.#shard, progress);
      if (saved === undefined) return;
      this.#shard = saved;
    }
    await this.#with.store.shards.close(this.#job, this.#shard);
  }

  /** The rows of the shard's chunk that aren't counted yet. */
  async *#windows(): AsyncGenerator<Window> {
    const { objects, limits = WINDOW_LIMITS } = this.#with;
    const { number, next, after, attempts, refused_since: refusedSince } = this.#shard;
    const most = attempts > 1 || refusedSince > 0 ? Math.ceil(limits.rows * SMALL_SHARE) : limits.rows;
    const chunk = objects.read(objectKeys.chunk(chunkSource(this.#job), number, next));
    let rows: Row[] = [];
    let bytes = 0;
    for await (const read of readRows(chunk, this.#format.delimiter, after)) {
      for (const row of read) {
        if (rows.length >= most || bytes >= limits.bytes) {
          yield { rows, isLast: false };
          rows = [];
          bytes = 0;
        }
        rows.push(row);
        bytes += row.bytes;
      }
    }
    yield { rows, isLast: true };
  }

  /** @param recognizesOnly as in `ApplyRowsOptions` @returns a result for each row; undefined for one that isn't counted */
  async #applyRows(rows: readonly Row[], recognizesOnly: boolean): Promise<readonly (RowResult | undefined)[]> {
    const { clock, log, applyRows, undoRows, findEndedJobs } = this.#with;
    const { id: job, created_at: createdAt, dry_run: dryRun = false } = this.#job;
    const undone = this.#undone;
    const options = {
      reader: this.#format.reader,
      source: {
        job,
        createdAt: Date.parse(createdAt),
        firstRow: rows[0]?.row ?? 0,
        dryRun,
        findEnded: (jobs) => findEndedJobs(this.#organization.id, jobs),
      },
      deadline: this.#deadline,
      recognizesOnly,
      guard: async (isRetry) => {
        // Someone else writes to the same items: perhaps a worker that has claimed this shard.
        if (isRetry || clock() >= this.#shard.busy_until - CLAIM_MARGIN_MS) await this.#renew();
      },
      onDefect: (row, cause) => log.error("a row cannot be read", { job, row, ...traceOf(cause) }),
    } satisfies ApplyRowsOptions;
    return undone
      ? undoRows(this.#organization, rows, { ...options, undone })
      : applyRows(this.#organization, rows, options);
  }

  async #renew(): Promise<void> {
    const renewed = await this.#with.store.shards.renew(this.#job, this.#shard);
    if (renewed === undefined) throw new ClaimLostError();
    this.#shard = renewed;
  }

  /** Writes the lines of rows. @returns the shard's progress with these rows */
  async #write(rows: readonly Row[], ofRows: readonly (RowResult | undefined)[], isLast: boolean) {
    const { objects } = this.#with;
    const { number, claim, next, after, counted, rows_before: rowsBefore } = this.#shard;
    const { counters, failures, results } = countRows(rows, ofRows, this.#toLine, furtherColumnsOf(this.#job));
    await Promise.all([
      results.length > 0 && objects.write(objectKeys.lines(this.#job, "results", number, claim), results),
      failures.length > 0 && objects.write(objectKeys.lines(this.#job, "failed_rows", number, claim), failures),
    ]);
    const sum = sumOf([this.#shard, counters]);
    return {
      ...sum,
      rows_before: isLast ? sum.succeeded + sum.failed : rowsBefore,
      next: isLast ? next + 1 : next,
      after: rows.at(-1)?.row ?? after,
      counted: results.length > 0 ? withClaim(counted, claim) : counted,
    };
  }
}
