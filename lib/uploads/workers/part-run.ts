import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Organization } from "../../organizations/organization.ts";
import { traceOf } from "../../trace.ts";
import type { CsvFormat } from "../file-format.ts";
import { createReportWriter } from "../files/failed-rows.ts";
import { readRows, readTableEntry, type Row, tableEntry, windowsOf } from "../files/segment.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import type { FindEndedJobs } from "../job/ended-jobs.ts";
import { formatOfJob } from "../job/job-format.ts";
import {
  logFieldsOf,
  countOf,
  epochOf,
  isLastClaim,
  isStuck,
  LEASE_MARGIN_MS,
  PARTS_IN_FLIGHT,
  sumOf,
  type UploadJob,
  type UploadPart,
  withNext,
} from "../job/upload-record.ts";
import type { Claimed, UploadStore } from "../job/upload-store.ts";
import { type AppliedWindow, toAppliedWindow } from "./applied-window.ts";
import { type ApplyRows, type PendingReason, RowsPendingError } from "./apply-rows.ts";
import { createFinishOrSend, type FinishUpload } from "./finish-upload.ts";
import { retryOf, type SendParts, startOfPart } from "./upload-messages.ts";
import { afterTime, rowsAtOnceOf, timeOf, WINDOW_LIMITS } from "./window-size.ts";

/** What applying parts needs. */
export interface ApplyPartDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  readonly findOrganization: (id: string) => Promise<Organization | undefined>;
  readonly findEndedJobs: FindEndedJobs;
  readonly applyRows: ApplyRows;
  readonly sendParts: SendParts;
  readonly finish: FinishUpload;
  /** Called at the end of a run with the number of rows that it counted. */
  readonly onEnd: (rows: number, job: UploadJob) => void;
  /** @default WINDOW_LIMITS */
  readonly limits?: typeof WINDOW_LIMITS;
}

/** What all windows of a part are applied with. */
interface WindowContext {
  readonly organization: Organization;
  readonly format: CsvFormat;
  readonly toLine: ReturnType<typeof createReportWriter>["line"];
}

/** Rows that are applied and counted together, and the checkpoint after them. */
interface Window {
  readonly rows: readonly Row[];
  readonly segment: number;
  readonly offset: number;
}

/** One worker's work on a part that it has claimed. */
export class PartRun {
  readonly #dependencies: ApplyPartDependencies;
  readonly #job: UploadJob;
  /** When to hand over to another worker, in milliseconds since the epoch. */
  readonly #handOverAt: number;
  readonly #limits: { rows: number; bytes: number };
  readonly #segments: number;
  #part: Claimed<UploadPart>;
  #counted = 0;
  /** If a window created only new items, the next one probably does too and need not read them first. */
  #assumeNew = false;

  constructor(dependencies: ApplyPartDependencies, job: UploadJob, part: Claimed<UploadPart>, handOverAt: number) {
    this.#dependencies = dependencies;
    this.#job = job;
    this.#part = part;
    this.#handOverAt = handOverAt;
    this.#limits = { ...(dependencies.limits ?? WINDOW_LIMITS) };
    this.#segments = countOf(job.segments);
  }

  /** Applies the part from its checkpoint on until it is done or stopped, or its time is over. */
  async run(): Promise<void> {
    const { clock, findOrganization, onEnd } = this.#dependencies;
    try {
      if (isStuck(this.#part, clock())) return await this.#failStuck();
      const organization = await findOrganization(this.#job.organization);
      if (!organization) return await this.#fail("the organization no longer exists");
      const format = formatOfJob(this.#job);
      const context = { organization, format, toLine: createReportWriter(format).line };
      for await (const window of this.#windows(format)) {
        await this.#applyWindow(context, window);
        if (this.#part.state !== "open" || this.#part.stop) break;
        if (clock() >= this.#handOverAt) return await this.#handOver();
      }
      await this.#end();
    } catch (error) {
      await this.#giveBack(error);
    } finally {
      if (this.#counted > 0) onEnd(this.#counted, this.#job);
    }
  }

  /** The windows from the checkpoint on. */
  async *#windows({ delimiter }: CsvFormat): AsyncGenerator<Window> {
    const most = this.#limits.rows;
    this.#limits.rows = rowsAtOnceOf(this.#part, most);
    for (let { segment, offset } = this.#part; segment < this.#segments; segment++, offset = 0) {
      const block = await this.#findBlock(segment);
      const frames = this.#dependencies.objects.read(block.key, { from: block.from + offset, to: block.to });
      for await (const rows of windowsOf(readRows(frames, delimiter), this.#limits)) {
        offset += rows.reduce((sum, { bytes }) => sum + bytes, 0);
        const isBlockDone = block.from + offset === block.to;
        yield { rows, segment: isBlockDone ? segment + 1 : segment, offset: isBlockDone ? 0 : offset };
        this.#limits.rows = rowsAtOnceOf(this.#part, most);
      }
    }
  }

  /** Object key and byte range of the part's block in a segment. */
  async #findBlock(segment: number) {
    const key = objectKeys.segment(this.#job, epochOf(this.#job.segments, segment), segment);
    return { key, ...readTableEntry(await this.#dependencies.objects.readWhole(key, tableEntry(this.#part.number))) };
  }

  /** Applies a window. Then one conditional write saves checkpoint, counters and lists, so that each row counts once. */
  async #applyWindow({ organization, format, toLine }: WindowContext, window: Window): Promise<void> {
    const { clock, log, applyRows, findEndedJobs } = this.#dependencies;
    const { rows } = window;
    const { id: job, dry_run: dryRun = false } = this.#job;
    const part = this.#part;
    const applied = await applyRows(organization, rows, {
      reader: format.reader,
      source: {
        job,
        firstRow: rows[0]?.row ?? 0,
        dryRun,
        findEnded: (jobs) => findEndedJobs(organization.id, jobs),
      },
      assumeNew: this.#assumeNew,
      deadline: Math.min(this.#handOverAt, timeOf(part)),
      guard: (reason: PendingReason) => {
        if (clock() >= part.lease_until - LEASE_MARGIN_MS) throw new RowsPendingError(reason, rows);
      },
      onDefect: (row, cause) => log.error("a row cannot be read", { job, row, ...traceOf(cause) }),
    });
    const counted = toAppliedWindow(rows, applied, toLine);
    await this.#count(window, counted);
    this.#counted += rows.length;
    this.#assumeNew = counted.allNew;
  }

  /** Writes the lists of a window and saves the checkpoint. */
  async #count({ segment, offset }: Window, { counters, failures, results }: AppliedWindow): Promise<void> {
    const { objects, limits = WINDOW_LIMITS } = this.#dependencies;
    const part = this.#part;
    const { number, epoch, rows_at_once: rowsAtOnce } = part;
    const hasFailures = failures.length > 0;
    await Promise.all([
      objects.write(objectKeys.windowResults(this.#job, number, epoch, countOf(part.results)), results),
      hasFailures && objects.write(objectKeys.failedRows(this.#job, number, epoch, countOf(part.failures)), failures),
    ]);
    await this.#save({
      segment,
      offset,
      ...sumOf([part, counters]),
      failures: hasFailures ? withNext(part.failures, epoch) : part.failures,
      results: withNext(part.results, epoch),
      state: segment === this.#segments ? "done" : "open",
      ...(rowsAtOnce > 0 && { rows_at_once: 2 * rowsAtOnce < limits.rows ? 2 * rowsAtOnce : 0 }),
    });
  }

  async #save(progress: Parameters<UploadStore["savePart"]>[2]): Promise<void> {
    this.#part = await this.#dependencies.store.savePart(this.#job, this.#part, progress);
  }

  async #handOver(): Promise<void> {
    const { store, sendParts } = this.#dependencies;
    await store.releasePart(this.#job, this.#part);
    await sendParts(this.#job, [this.#part]);
  }

  /** Ends the part; if all of its rows are applied, the next one begins. */
  async #end(): Promise<void> {
    const { sendParts } = this.#dependencies;
    if (this.#part.state === "open") await this.#save({ state: this.#part.stop ? "stopped" : "done" });
    const { number, state, succeeded, failed } = this.#part;
    this.#dependencies.log.info("part ended", { ...logFieldsOf(this.#job), part: number, state, succeeded, failed });
    const next = this.#part.number + PARTS_IN_FLIGHT;
    const isFollowed = this.#part.state === "done" && next < (this.#job.part_count ?? 0);
    if (isFollowed) await sendParts(this.#job, [startOfPart(next)]);
    await this.#finish();
  }

  async #finish(): Promise<void> {
    const { finish, sendParts } = this.#dependencies;
    await createFinishOrSend(finish, sendParts)(this.#job, this.#part, this.#handOverAt);
  }

  async #fail(error: string): Promise<void> {
    await this.#dependencies.store.requestStop(this.#job, "failed", { error });
    await this.#save({ state: "stopped" });
    await this.#finish();
  }

  async #failStuck(): Promise<void> {
    const row = await this.#findNextRow().catch(() => undefined);
    await this.#fail(`applying ${row === undefined ? "the rows" : `row ${row}`} makes no progress`);
  }

  /** Number of the first row that is not counted yet; undefined if there is none in its segment. */
  async #findNextRow(): Promise<number | undefined> {
    const block = await this.#findBlock(this.#part.segment);
    const frames = this.#dependencies.objects.read(block.key, { from: block.from + this.#part.offset, to: block.to });
    for await (const [first] of readRows(frames, formatOfJob(this.#job).delimiter)) return first?.row;
    return undefined;
  }

  /** After an error: fails the job, or ends the claim and, if it was time or the store, sends the rest to a worker. */
  async #giveBack(error: unknown): Promise<void> {
    const { clock, log, store, sendParts } = this.#dependencies;
    const job = this.#job;
    const part = this.#part;
    if (error instanceof ObjectGoneError) return this.#fail("the file was deleted before all rows were applied");
    const isSlow = error instanceof RowsPendingError && error.reason === "time";
    if (isSlow && error.count === 1 && this.#counted === 0 && isLastClaim(part)) {
      return this.#fail(`row ${error.firstRow} takes too long to apply`);
    }
    const isBusy = !isSlow && (error instanceof RowsPendingError || isUnavailable(error));
    // If rows were counted, the store was not busy all the time.
    const waiting = { ...part, busy_since: (this.#counted === 0 && part.busy_since) || clock() };
    const change = isSlow
      ? afterTime(error, clock() >= this.#handOverAt)
      : isBusy && { stalls: 0, busy_since: waiting.busy_since };
    const isReleased = await store.releasePart(job, waiting, change || {}).then(
      () => true,
      () => false,
    );
    if (!isReleased) log.warn("could not release a part", logFieldsOf(job));
    if (!isBusy && !isSlow) throw error;
    log.warn("a part is to be tried again", {
      ...logFieldsOf(job),
      part: part.number,
      reason: isSlow ? "time" : codeOf(error),
    });
    const { sent, delaySeconds } = retryOf(waiting, clock(), isReleased);
    await sendParts(job, [sent], isSlow && isReleased ? 0 : delaySeconds);
  }
}
