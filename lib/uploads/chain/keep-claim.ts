import type { RuntimeWith } from "../../aws/runtime.ts";
import { CLAIM_MS } from "../job/claim.ts";
import type { UploadJob } from "../job/upload-record.ts";
import type { UploadStore } from "../job/upload-store.ts";

/** Time between two renewals of a claim. */
const RENEW_MS = CLAIM_MS / 3;

/** This worker must stop: the job was stopped, published or ended, or its organization is being erased. */
export class StoppedError extends Error {
  override readonly name: string = "StoppedError";
}

/**
 * Makes the function that renews the claim on a job when that is due. Its worker calls it again and again.
 * @param job as it was claimed
 * @returns a function that throws StoppedError if the worker must stop
 */
export function createKeepClaim(
  { clock, store }: Pick<RuntimeWith<never>, "clock"> & { readonly store: UploadStore },
  job: UploadJob,
) {
  let renewedAt = clock();
  return async (): Promise<void> => {
    if (clock() < renewedAt + RENEW_MS) return;
    if (!(await store.renew(job))) throw new StoppedError();
    renewedAt = clock();
  };
}
