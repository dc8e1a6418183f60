import { codeOf, isUnavailable } from "../../aws/error-codes.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { Organization } from "../../organizations/organization.ts";
import { type ApplyRows, RowsPendingError, type UnreadRow } from "./apply-rows.ts";
import { HeldError } from "../../aws/queue-worker.ts";
import type { CsvFormat } from "../file-format.ts";
import { cellValue, rawCells } from "../csv/csv-row.ts";
import type { RowError } from "../csv/row-reader.ts";
import { type AppliedWindow, toAppliedWindow } from "./applied-window.ts";
import { createReportWriter } from "../files/failed-rows.ts";
import { readRows, readTableEntry, type RowText, tableEntry, windowsOf } from "../files/segment.ts";
import { createFinishOrSend, type FinishUpload } from "./finish-upload.ts";
import { type PartMessage, retryOf, type SendParts, startOfPart } from "./upload-messages.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import type { FindEndedJobs } from "../job/ended-jobs.ts";
import { traceOf } from "../../trace.ts";
import { formatOfJob } from "../job/job-format.ts";
import {
  countOf,
  epochOf,
  isEnded,
  isLastClaim,
  isStuck,
  type JobKey,
  LEASE_MARGIN_MS,
  PARTS_IN_FLIGHT,
  sumOf,
  type UploadJob,
  type UploadPart,
  withNext,
} from "../job/upload-record.ts";
import type { Claimed, UploadStore } from "../job/upload-store.ts";
import { afterTime, rowsAtOnceOf, timeOf, WINDOW_LIMITS } from "./window-size.ts";

/** Dependencies of `createApplyPart`. */
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

/** Data that all windows of one part share. */
interface PartContext {
  readonly job: UploadJob;
  readonly organization: Organization;
  readonly format: CsvFormat;
  readonly toLine: (row: number, raw: string, error: RowError) => string;
  /** When to hand over to another worker, in milliseconds since the epoch. */
  readonly handOverAt: number;
  /** Called for every window that is counted. */
  readonly onCounted: (rows: number) => void;
}

type PartOutcome = "done" | "stopped" | "handed over";

/**
 * Applies one part window by window. After each window, one conditional write saves checkpoint, counters and failed
 * rows together, so that every row is counted once even if messages are lost, repeated or delivered to several workers.
 * @throws HeldError if another worker holds the part's lease
 */
export const createApplyPart = (dependencies: ApplyPartDependencies) => {
  const {
    clock,
    log,
    store,
    objects,
    findOrganization,
    findEndedJobs,
    applyRows,
    sendParts,
    finish,
    onEnd,
    limits = WINDOW_LIMITS,
  } = dependencies;

  const finishOrSend = createFinishOrSend(finish, sendParts);

  const applyWindow = async (
    context: PartContext,
    part: Claimed<UploadPart>,
    window: readonly RowText[],
    assumeNew: boolean,
  ): Promise<AppliedWindow> => {
    const { reader, delimiter } = context.format;
    const cellsOf = (text: string, atMost?: number): string[] => rawCells(text, delimiter, atMost).map(cellValue);
    const rows = window.map(({ row, text }): UnreadRow => ({
      row,
      externalId: reader.externalIdOf(cellsOf(text, reader.idWidth)),
      text,
    }));
    const applied = await applyRows(context.organization, rows, {
      readRow: (text) => reader.read(cellsOf(text)),
      source: {
        job: context.job.id,
        firstRow: window[0]?.row ?? 0,
        ...(context.job.dry_run && { dryRun: true }),
        findEnded: (jobs) => findEndedJobs(context.organization.id, jobs),
      },
      assumeNew,
      deadline: Math.min(context.handOverAt, timeOf(part)),
      guard: (reason) => {
        if (clock() < part.lease_until - LEASE_MARGIN_MS) return;
        throw new RowsPendingError(reason, window);
      },
      onDefect: (row, cause) => log.error("a row cannot be read", { job: context.job.id, row, ...traceOf(cause) }),
    });
    return toAppliedWindow(rows, applied, context.toLine);
  };

  /** Applies a window and saves the checkpoint. */
  const applyAndCount = async (
    context: PartContext,
    part: Claimed<UploadPart>,
    window: readonly RowText[],
    next: Pick<UploadPart, "segment" | "offset"> & { readonly isLast: boolean; readonly assumeNew: boolean },
  ): Promise<{ readonly part: Claimed<UploadPart>; readonly allNew: boolean }> => {
    const { job } = context;
    const { number, epoch, failures, results, rows_at_once: rowsAtOnce } = part;
    const { counters, allNew, ...lines } = await applyWindow(context, part, window, next.assumeNew);
    await Promise.all([
      objects.write(objectKeys.windowResults(job, number, epoch, countOf(results)), lines.results),
      lines.failures.length > 0 &&
        objects.write(objectKeys.failedRows(job, number, epoch, countOf(failures)), lines.failures),
    ]);
    const saved = await store.savePart(job, part, {
      segment: next.segment,
      offset: next.offset,
      ...sumOf([part, counters]),
      failures: lines.failures.length > 0 ? withNext(failures, epoch) : failures,
      results: withNext(results, epoch),
      state: next.isLast ? "done" : "open",
      ...(rowsAtOnce > 0 && { rows_at_once: 2 * rowsAtOnce < limits.rows ? 2 * rowsAtOnce : 0 }),
    });
    return { part: saved, allNew };
  };

  /** Object key and byte range of the part's block in a segment. */
  const findBlock = async (job: UploadJob, number: number, segment: number) => {
    const key = objectKeys.segment(job, epochOf(job.segments, segment), segment);
    return { key, ...readTableEntry(await objects.readWhole(key, tableEntry(number))) };
  };

  /** Number of the first row that is not counted yet; undefined if there is none in its segment. */
  const findNextRow = async (job: UploadJob, part: UploadPart): Promise<number | undefined> => {
    const block = await findBlock(job, part.number, part.segment);
    const source = objects.read(block.key, { from: block.from + part.offset, to: block.to });
    for await (const [first] of readRows(source)) return first?.row;
    return undefined;
  };

  const applyPart = async (context: PartContext, claimed: Claimed<UploadPart>): Promise<PartOutcome> => {
    const { job } = context;
    const segments = countOf(job.segments);
    let part = claimed;
    let { segment, offset } = part;
    // If a window created only new items, the next one probably does too and need not read them first.
    let assumeNew = false;
    const atMost = { ...limits, rows: rowsAtOnceOf(part, limits.rows) };
    while (segment < segments) {
      const block = await findBlock(job, part.number, segment);
      const source = objects.read(block.key, { from: block.from + offset, to: block.to });
      for await (const window of windowsOf(readRows(source), atMost)) {
        offset += window.reduce((sum, { bytes }) => sum + bytes, 0);
        const isBlockDone = block.from + offset === block.to;
        const isLast = isBlockDone && segment === segments - 1;
        const next = isBlockDone ? { segment: segment + 1, offset: 0 } : { segment, offset };
        ({ part, allNew: assumeNew } = await applyAndCount(context, part, window, { ...next, isLast, assumeNew }));
        atMost.rows = rowsAtOnceOf(part, limits.rows);
        context.onCounted(window.length);
        if (isLast) return "done";
        if (part.stop) {
          await store.savePart(job, part, { state: "stopped" });
          return "stopped";
        }
        if (clock() >= context.handOverAt) {
          await store.releasePart(job, part);
          await sendParts(job, [part]);
          return "handed over";
        }
      }
      segment++;
      offset = 0;
    }
    await store.savePart(job, part, { state: "done" });
    return "done";
  };

  const fail = async (job: UploadJob, part: Claimed<UploadPart>, error: string, handOverAt: number): Promise<void> => {
    await store.requestStop(job, "failed", { error });
    await store.savePart(job, part, { state: "stopped" });
    await finishOrSend(job, part, handOverAt);
  };

  const sendNext = async (job: UploadJob, { number }: UploadPart): Promise<void> => {
    const next = number + PARTS_IN_FLIGHT;
    if (next < (job.part_count ?? 0)) await sendParts(job, [startOfPart(next)]);
  };

  return async (message: PartMessage, handOverAt: number): Promise<void> => {
    const key: JobKey = { organization: message.organization, id: message.id };
    const job = await store.readJob(key);
    if (!job?.published || isEnded(job)) return;
    const wholeRun = { until: handOverAt, abridge: true };
    if (job.stopping) {
      await finish(job, wholeRun);
      return;
    }
    const claim = await store.claimPart(job, message.part, message.unreleased_since);
    if (claim.state === "refused") {
      if (claim.record.state === "open" && !claim.record.stop) throw new HeldError("the part is being applied");
      await finish(job, wholeRun);
      return;
    }
    const part = claim.record;
    const failJob = (error: string): Promise<void> => fail(job, part, error, handOverAt);
    let counted = 0;
    const onCounted = (rows: number): void => {
      counted += rows;
    };
    try {
      if (isStuck(part, clock())) {
        const row = await findNextRow(job, part).catch(() => undefined);
        return await failJob(`applying ${row === undefined ? "the rows" : `row ${row}`} makes no progress`);
      }
      const organization = await findOrganization(job.organization);
      if (!organization) return await failJob("the organization does not exist any more");
      const format = formatOfJob(job);
      const toLine = createReportWriter(format).line;
      const context: PartContext = { job, organization, format, toLine, handOverAt, onCounted };
      const outcome = await applyPart(context, part);
      if (outcome === "done") await sendNext(job, part);
      if (outcome !== "handed over") await finishOrSend(job, part, handOverAt);
    } catch (error) {
      if (error instanceof ObjectGoneError) return failJob("the file was deleted before all rows were applied");
      const isSlow = error instanceof RowsPendingError && error.reason === "time";
      if (isSlow && error.count === 1 && counted === 0 && isLastClaim(part)) {
        return failJob(`row ${error.firstRow} takes too long to apply`);
      }
      const isBusy = !isSlow && (error instanceof RowsPendingError || isUnavailable(error));
      // If rows were counted, the store was not busy all the time.
      const waiting = { ...part, busy_since: (counted === 0 && part.busy_since) || clock() };
      const change = isSlow
        ? afterTime(error, clock() >= handOverAt)
        : isBusy && { stalls: 0, busy_since: waiting.busy_since };
      const isReleased = await store.releasePart(job, waiting, change || {}).then(
        () => true,
        () => false,
      );
      if (!isReleased) log.warn("could not release a part", { job: job.id });
      if (!isBusy && !isSlow) throw error;
      const reason = isSlow ? "time" : codeOf(error);
      log.warn("a part is to be tried again", { job: job.id, part: part.number, reason });
      const { sent, delaySeconds } = retryOf(waiting, clock(), isReleased);
      await sendParts(job, [sent], isSlow && isReleased ? 0 : delaySeconds);
    } finally {
      if (counted > 0) onEnd(counted, job);
    }
  };
};
