import type { RuntimeWith } from "../../runtime/runtime.ts";
import type { Organization } from "../../organizations/organization.ts";
import { type ApplyRows, RowsPendingError, type ValidRow } from "./apply-rows.ts";
import { HeldError } from "../../queue/queue-worker.ts";
import { type Columns, readRow } from "../csv/csv-columns.ts";
import { columnsOfHeader } from "../csv/csv-header.ts";
import { cellValue, rawCells } from "../csv/csv-row.ts";
import { createReportWriter } from "../files/failed-rows.ts";
import {
  createFrameWriter,
  type Frame,
  frameBytes,
  readFrames,
  readTableEntry,
  tableEntry,
  windowsOf,
} from "../files/segment.ts";
import { createFinishOrSend, type FinishUpload } from "./finish-upload.ts";
import { delayAfter, type PartMessage, type SendParts, startOfPart } from "./upload-messages.ts";
import { ObjectGoneError, objectKeys, type UploadObjects } from "../files/upload-objects.ts";
import {
  countOf,
  epochOf,
  isEnded,
  type JobKey,
  LEASE_MARGIN_MS,
  PARTS_IN_FLIGHT,
  STALLED_CLAIMS_MAX,
  type UploadJob,
  type UploadPart,
  withNext,
} from "../job/upload-record.ts";
import { type Claimed, LeaseLostError, type UploadStore } from "../job/upload-store.ts";

/** Rows that are read, written and counted together: as many as a batch call takes twice. */
const WINDOW_LIMITS = { rows: 200, bytes: 256 * 1024 };

export interface ApplyPartDependencies extends Pick<RuntimeWith<never>, "clock" | "log"> {
  readonly store: UploadStore;
  readonly objects: UploadObjects;
  readonly findOrganization: (id: string) => Promise<Organization | undefined>;
  readonly applyRows: ApplyRows;
  readonly sendParts: SendParts;
  readonly finish: FinishUpload;
  /** Told how many rows one run counted. */
  readonly onEnd: (rows: number, job: UploadJob) => void;
  /** @default WINDOW_LIMITS */
  readonly limits?: typeof WINDOW_LIMITS;
}

/** What all windows of one part have in common. */
interface Work {
  readonly job: UploadJob;
  readonly organization: Organization;
  readonly columns: Columns;
  readonly toLine: (row: number, raw: string, error: string) => string;
  /** Milliseconds since the epoch after which the rest is left to another worker. */
  readonly handOverAt: number;
  /** Told of every window that is counted. */
  readonly onCounted: (rows: number) => void;
}

interface AppliedWindow {
  readonly succeeded: number;
  readonly failed: number;
  /** Frames of the lines of the report. */
  readonly lines: Buffer;
  /** Every valid row made an item. */
  readonly allNew: boolean;
}

type Ending = "done" | "stopped" | "handed over";

/**
 * Applies one part window by window, each with one conditional write that moves checkpoint, counters and failed rows
 * together. However often a part is delivered, lost, or worked on at once, every row counts once.
 * @throws HeldError where another worker is at it
 */
export const createApplyPart = (dependencies: ApplyPartDependencies) => {
  const {
    clock,
    log,
    store,
    objects,
    findOrganization,
    applyRows,
    sendParts,
    finish,
    onEnd,
    limits = WINDOW_LIMITS,
  } = dependencies;

  const finishOrSend = createFinishOrSend(finish, sendParts);

  const applyWindow = async (
    work: Work,
    part: Claimed<UploadPart>,
    window: readonly Frame[],
    assumeNew: boolean,
  ): Promise<AppliedWindow> => {
    const texts = new Map(window.map(({ row, raw }) => [row, raw.toString()]));
    const rows: ValidRow[] = [];
    const errors = new Map<number, string>();
    for (const [row, text] of texts) {
      const reading = readRow(work.columns, rawCells(text).map(cellValue));
      if ("error" in reading) errors.set(row, reading.error);
      else rows.push({ row, input: reading.input });
    }
    const leaseEnd = part.lease_until - LEASE_MARGIN_MS;
    const { failed, created } = await applyRows(work.organization, rows, {
      job: work.job.id,
      assumeNew,
      deadline: Math.min(work.handOverAt, leaseEnd),
      guard: () => {
        if (clock() >= leaseEnd) throw new LeaseLostError("the lease ends before the window is applied");
      },
    });
    for (const [row, error] of failed) errors.set(row, error);
    const lines = createFrameWriter();
    for (const [row, text] of texts) {
      const error = errors.get(row);
      if (error !== undefined) lines.add({ row, raw: Buffer.from(work.toLine(row, text, error)) });
    }
    return {
      succeeded: window.length - errors.size,
      failed: errors.size,
      lines: lines.bytes(),
      allNew: created === rows.length,
    };
  };

  /** Applies a window, with as many leases as it takes. */
  const applyAndCount = async (
    work: Work,
    claimed: Claimed<UploadPart>,
    window: readonly Frame[],
    next: Pick<UploadPart, "segment" | "offset"> & { readonly isLast: boolean; readonly assumeNew: boolean },
  ): Promise<{ readonly part: Claimed<UploadPart>; readonly allNew: boolean }> => {
    const { job } = work;
    let part = claimed;
    let { assumeNew } = next;
    for (;;) {
      try {
        const { succeeded, failed, lines, allNew } = await applyWindow(work, part, window, assumeNew);
        let { failures } = part;
        if (lines.length > 0) {
          await objects.write(objectKeys.failedRows(job, part.number, part.epoch, countOf(failures)), lines);
          failures = withNext(failures, part.epoch);
        }
        part = await store.savePart(job, part, {
          segment: next.segment,
          offset: next.offset,
          succeeded: part.succeeded + succeeded,
          failed: part.failed + failed,
          failures,
          state: next.isLast ? "done" : "open",
        });
        return { part, allNew };
      } catch (error) {
        if (!(error instanceof RowsPendingError) || clock() >= work.handOverAt) throw error;
        part = await store.savePart(job, part, { state: "open" });
        assumeNew = false;
      }
    }
  };

  /** Where the part's block of a segment stands. */
  const findBlock = async (job: UploadJob, number: number, segment: number) => {
    const key = objectKeys.segment(job, epochOf(job.segments, segment), segment);
    return { key, ...readTableEntry(await objects.readWhole(key, tableEntry(number))) };
  };

  const applyPart = async (work: Work, claimed: Claimed<UploadPart>): Promise<Ending> => {
    const { job } = work;
    const segments = countOf(job.segments);
    let part = claimed;
    let { segment, offset } = part;
    // Where one window made nothing but new items, the next most likely does, and need not read them first.
    let assumeNew = false;
    while (segment < segments) {
      const block = await findBlock(job, part.number, segment);
      const source = objects.read(block.key, { from: block.from + offset, to: block.to });
      for await (const window of windowsOf(readFrames(source), limits)) {
        offset += window.reduce((sum, frame) => sum + frameBytes(frame), 0);
        const isBlockDone = block.from + offset === block.to;
        const isLast = isBlockDone && segment === segments - 1;
        const next = isBlockDone ? { segment: segment + 1, offset: 0 } : { segment, offset };
        ({ part, allNew: assumeNew } = await applyAndCount(work, part, window, { ...next, isLast, assumeNew }));
        work.onCounted(window.length);
        if (isLast) return "done";
        if (part.stop) {
          await store.savePart(job, part, { state: "stopped" });
          return "stopped";
        }
        if (clock() >= work.handOverAt) {
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
    const claim = await store.claimPart(job, message.part);
    if (claim.state === "refused") {
      if (claim.record.state === "open" && !claim.record.stop) throw new HeldError("the part is being applied");
      await finish(job, wholeRun);
      return;
    }
    const part = claim.record;
    const giveUp = (error: string): Promise<void> => fail(job, part, error, handOverAt);
    let counted = 0;
    const onCounted = (rows: number): void => {
      counted += rows;
    };
    try {
      if (part.stalls > STALLED_CLAIMS_MAX) return await giveUp("applying the rows makes no progress");
      const organization = await findOrganization(job.organization);
      if (!organization) return await giveUp("the organization does not exist any more");
      const toLine = createReportWriter(job.header).line;
      const work: Work = { job, organization, columns: columnsOfHeader(job.header), toLine, handOverAt, onCounted };
      const ending = await applyPart(work, part);
      if (ending === "done") await sendNext(job, part);
      if (ending !== "handed over") await finishOrSend(job, part, handOverAt);
    } catch (error) {
      if (error instanceof ObjectGoneError) return giveUp("the file was deleted before all rows were applied");
      await store.releasePart(job, part).catch(() => log.warn("could not release a part", { job: job.id }));
      if (!(error instanceof RowsPendingError)) throw error;
      await sendParts(job, [part], delayAfter(part.stalls));
    } finally {
      if (counted > 0) onEnd(counted, job);
    }
  };
};
