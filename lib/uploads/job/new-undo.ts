import { randomUUID } from "node:crypto";
import { NotFoundError, StateConflictError, UndoExpiredError } from "../../errors.ts";
import { undoJobId } from "../../identity.ts";
import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import { isEnded, type JobKey, type NewUpload, type UploadJob, type UploadSnapshot } from "./upload-record.ts";
import { CHECK_WITHIN_MS, type UploadStore } from "./upload-store.ts";

const UNDO_DAYS = 28;
/** Undos of one upload: all but the last were cancelled or have failed. */
const ATTEMPTS_MAX = 10;

/** What a request says of an undo. */
export interface UndoRequest extends Pick<NewUpload, "key_id" | "key_name" | "request_id"> {
  readonly dryRun: boolean;
}

/** @throws StateConflictError */
function assertUndoable(job: UploadJob): void {
  if (job.undo_of !== undefined) throw new StateConflictError("this upload is an undo, and can't be undone");
  if (job.dry_run) throw new StateConflictError("this upload was a dry run: there is nothing to undo");
  if (!isEnded(job)) throw new StateConflictError("this upload hasn't ended; wait for it or cancel it first");
}

/** The last job that was asked to undo an upload, and the id of the next one, if there may be another. */
interface LastUndo {
  readonly last: UploadSnapshot | undefined;
  readonly nextId: string | undefined;
}

/** Finds the last undo of an upload. One that was cancelled or has failed may be followed by another, which does the rest. */
async function findLastUndo(store: UploadStore, { organization, id }: JobKey): Promise<LastUndo> {
  let last: UploadSnapshot | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const nextId = undoJobId(organization, id, attempt);
    const known = await store.read({ organization, id: nextId });
    if (known === undefined) return { last, nextId };
    last = known;
    if (known.job.status !== "cancelled" && known.job.status !== "failed") break;
  }
  return { last, nextId: undefined };
}

/** Id of the last job that was asked to undo an upload; undefined if none was, or if nothing can be undone. */
export async function findUndoneBy(store: UploadStore, job: UploadJob): Promise<string | undefined> {
  if (!isEnded(job) || job.dry_run || job.undo_of !== undefined) return undefined;
  return (await findLastUndo(store, job)).last?.job.id;
}

/**
 * Makes the function that creates the job which undoes an upload. A repeated request has the same job, unless that was cancelled or
 * has failed. Each dry run has its own.
 * @throws NotFoundError, StateConflictError, UndoExpiredError, TooManyRequestsError
 */
export function createRequestUndo(store: UploadStore, clock: Clock) {
  return async (organization: Organization, id: string, { dryRun, ...by }: UndoRequest): Promise<UploadSnapshot> => {
    const undone = await store.readJob({ organization: organization.id, id });
    if (undone === undefined) throw new NotFoundError("work item upload not found");
    assertUndoable(undone);
    const { last, nextId } = dryRun ? { nextId: randomUUID() } : await findLastUndo(store, undone);
    if (nextId === undefined) return last!;
    if (clock() > Date.parse(undone.updated_at) + UNDO_DAYS * 86_400_000) {
      throw new UndoExpiredError(`this upload ended more than ${UNDO_DAYS} days ago`);
    }
    await store.assertRoom(organization);
    const upload: NewUpload = {
      id: nextId,
      origin: "request",
      undo_of: id,
      undo_of_created_at: undone.created_at,
      file_name: undone.file_name,
      mapping: undone.mapping,
      ...by,
      ...(dryRun && { dry_run: true }),
    };
    const { job } = await store.create(organization, upload, clock() + CHECK_WITHIN_MS);
    return { job, buckets: [] };
  };
}
