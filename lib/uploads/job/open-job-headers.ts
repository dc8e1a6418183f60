import type { UploadJobResponse } from "./upload-job.ts";

/** A caller that waits this share of a job's age between polls notices its end soon enough. */
const SHARE_OF_AGE = 0.1;
const POLL_SECONDS = { least: 1, most: 30 };

/** When to poll a job again that hasn't ended. @param now milliseconds since the epoch */
export function openJobHeaders(
  { status, created_at }: Pick<UploadJobResponse, "status" | "created_at">,
  now: number,
): Readonly<Record<string, string>> {
  if (status !== "pending" && status !== "processing") return {};
  const share = Math.ceil(((now - Date.parse(created_at)) / 1000) * SHARE_OF_AGE);
  return { "retry-after": String(Math.min(POLL_SECONDS.most, Math.max(POLL_SECONDS.least, share))) };
}
