import type { RuntimeWith } from "../../aws/runtime.ts";
import { isoTime } from "../../clock.ts";
import { NotFoundError, StateConflictError, UndoExpiredError } from "../../errors.ts";
import { undoJobId } from "../../identity.ts";
import type { Organization } from "../../organizations/organization.ts";
import { UNDO_DAYS } from "../../periods.ts";
import { CLAIM_MS } from "./claim.ts";
import { createReadJobs } from "./ended-jobs.ts";
import { isEnded, type NewUpload, type UploadJob, type UploadSnapshot } from "./upload-record.ts";
import { CHECK_WITHIN_MS, type UploadStore } from "./upload-store.ts";

/** Undos of one upload at most. All but the last were canceled or failed. */
const ATTEMPTS_MAX = 10;
const LATER_ATTEMPTS = Array.from({ length: ATTEMPTS_MAX - 1 }, (_, index) => index + 2);
/** Trials that are read at once. */
const TRIALS_AT_ONCE = 10;

/** When the last claim of an ended import has expired, so that no worker of it can write. In milliseconds since the epoch. */
function undoBeginsAt({ updated_at: endedAt }: UploadJob): number {
  return Date.parse(endedAt) + CLAIM_MS;
}

/** What a request says of an undo. */
export interface UndoRequest extends Pick<NewUpload, "key_id" | "key_name" | "request_id"> {
  readonly dryRun: boolean;
}

/** A job that was asked to undo an upload. */
interface Attempt {
  readonly job: UploadJob;
  /** 1 for the upload's first. */
  readonly number: number;
}

/** @throws StateConflictError */
function assertUndoable(job: UploadJob): void {
  if (job.undo_of !== undefined) throw new StateConflictError("this upload is an undo, and can't be undone");
  if (job.dry_run) throw new StateConflictError("this upload was a dry run: there is nothing to undo");
  if (!isEnded(job)) throw new StateConflictError("this upload hasn't ended; wait for it or cancel it first");
}

/** Whether another undo may do the rest. */
function isUnfinished({ status }: UploadJob): boolean {
  return status === "cancelled" || status === "failed";
}

/** Makes the functions that find the last undo of uploads, and the last trial of one. */
function createFindAttempts(runtime: RuntimeWith<"workItems">) {
  const readJobs = createReadJobs(runtime);

  const readAttempts = async (
    organization: string,
    uploads: readonly string[],
    numbers: readonly number[],
    isTrial = false,
  ): Promise<[upload: string, attempt: Attempt][]> => {
    const asked = uploads.flatMap((upload) =>
      numbers.map((number) => ({ upload, number, id: undoJobId(organization, upload, number, isTrial) })),
    );
    const jobs = await readJobs(
      organization,
      asked.map(({ id }) => id),
    );
    const byId = new Map(jobs.map((job) => [job.id, job]));
    return asked.flatMap(({ upload, number, id }) => {
      const job = byId.get(id);
      return job === undefined ? [] : [[upload, { job, number }] as [string, Attempt]];
    });
  };

  return {
    /** One BatchGet reads all first undos, a second one those after unfinished undos. @returns them by upload */
    lastUndos: async (organization: string, uploads: readonly string[]): Promise<ReadonlyMap<string, Attempt>> => {
      const first = await readAttempts(organization, uploads, [1]);
      const unfinished = first.filter(([, { job }]) => isUnfinished(job)).map(([upload]) => upload);
      return new Map([...first, ...(await readAttempts(organization, unfinished, LATER_ATTEMPTS))]);
    },
    lastTrial: async (organization: string, upload: string): Promise<Attempt | undefined> => {
      for (let last: Attempt | undefined; ;) {
        const before = last?.number ?? 0;
        const numbers = Array.from({ length: TRIALS_AT_ONCE }, (_, index) => before + index + 1);
        const found = await readAttempts(organization, [upload], numbers, true);
        last = found.at(-1)?.[1] ?? last;
        if (found.length < TRIALS_AT_ONCE) return last;
      }
    },
  };
}

/** Makes the function that finds the last undo of each upload. @returns its id, by the upload's id */
export function createFindUndoneBy(runtime: RuntimeWith<"workItems">) {
  const { lastUndos } = createFindAttempts(runtime);
  return async (
    organization: Organization,
    uploads: readonly Pick<UploadJob, "id" | "status" | "dry_run" | "undo_of">[],
  ): Promise<ReadonlyMap<string, string>> => {
    const undoable = uploads.filter((job) => isEnded(job) && !job.dry_run && job.undo_of === undefined);
    const ids = undoable.map(({ id }) => id);
    const last = await lastUndos(organization.id, ids);
    return new Map([...last].map(([upload, { job }]) => [upload, job.id]));
  };
}

/**
 * Makes the function that creates the job which undoes an upload, or a trial of it. A repeated request gets the same job, unless
 * that undo was canceled or failed, or that trial has ended.
 * @throws NotFoundError, StateConflictError, UndoExpiredError, TooManyRequestsError
 */
export function createRequestUndo(runtime: RuntimeWith<"workItems">, store: UploadStore) {
  const { lastUndos, lastTrial } = createFindAttempts(runtime);
  return async (organization: Organization, id: string, { dryRun, ...by }: UndoRequest): Promise<UploadSnapshot> => {
    const undone = await store.readJob({ organization: organization.id, id });
    if (undone === undefined) throw new NotFoundError("work item upload not found");
    assertUndoable(undone);
    const last = dryRun ? await lastTrial(organization.id, id) : (await lastUndos(organization.id, [id])).get(id);
    if (last && !(dryRun ? isEnded(last.job) : isUnfinished(last.job))) {
      return (await store.read(last.job)) ?? { job: last.job, shards: [] };
    }
    const number = (last?.number ?? 0) + 1;
    if (!dryRun && number > ATTEMPTS_MAX) {
      throw new StateConflictError(
        `${ATTEMPTS_MAX} undos of this upload were canceled or have failed; there can't be another`,
      );
    }
    if (runtime.clock() > Date.parse(undone.updated_at) + UNDO_DAYS * 86_400_000) {
      throw new UndoExpiredError(`this upload ended more than ${UNDO_DAYS} days ago`);
    }
    await store.assertRoom(organization);
    const upload: NewUpload = {
      id: undoJobId(organization.id, id, number, dryRun),
      origin: "request",
      undo_of: id,
      undo_of_created_at: undone.created_at,
      file_name: undone.file_name,
      mapping: undone.mapping,
      ...by,
      // A trial writes nothing, so it needn't wait for workers of the import.
      ...(dryRun ? { dry_run: true } : { begins_at: isoTime(undoBeginsAt(undone)) }),
    };
    const { job } = await store.create(organization, upload, runtime.clock() + CHECK_WITHIN_MS);
    return { job, shards: [] };
  };
}
