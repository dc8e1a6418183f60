import { randomUUID } from "node:crypto";
import { NotFoundError, StateConflictError, UndoExpiredError } from "../../errors.ts";
import { undoJobId } from "../../identity.ts";
import type { Clock } from "../../clock.ts";
import type { Organization } from "../../organizations/organization.ts";
import { isEnded, type NewUpload, type UploadJob, type UploadSnapshot } from "./upload-record.ts";
import { CHECK_WITHIN_MS, type UploadStore } from "./upload-store.ts";

const UNDO_DAYS = 28;

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

/**
 * Makes the function that creates the job which undoes an upload. An upload is undone once: a repeated request has the same job. Each dry run
 * has its own.
 * @throws NotFoundError, StateConflictError, UndoExpiredError, TooManyRequestsError
 */
export function createRequestUndo(store: UploadStore, clock: Clock) {
  return async (organization: Organization, id: string, { dryRun, ...by }: UndoRequest): Promise<UploadSnapshot> => {
    const undone = await store.readJob({ organization: organization.id, id });
    if (undone === undefined) throw new NotFoundError("work item upload not found");
    assertUndoable(undone);
    const key = { organization: organization.id, id: dryRun ? randomUUID() : undoJobId(organization.id, id) };
    const known = await store.read(key);
    if (known) return known;
    if (clock() > Date.parse(undone.updated_at) + UNDO_DAYS * 86_400_000) {
      throw new UndoExpiredError(`this upload ended more than ${UNDO_DAYS} days ago`);
    }
    await store.assertRoom(organization);
    const upload: NewUpload = {
      id: key.id,
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
