/** POSTs of which a second one changes nothing, without an `Idempotency-Key` too. */
const REPEATABLE = /\/v1\/work_items\/(?:batch(?:_get|_delete)?|[^/]+\/events|upload\/[^/]+\/undo)$/;
const UPLOAD_OR_UNDO = /\/v1\/work_items\/upload(?:\/[^/]+\/undo)?$/;

/** What says in a JSON body that it is a trial. */
interface MayBeTrial {
  readonly upload?: { readonly dry_run?: unknown };
  readonly undo?: { readonly dry_run?: unknown };
}

/** Whether a request starts the trial of an upload or of an undo: each is a job of its own. */
async function isTrial(request: Request): Promise<boolean> {
  if (request.method !== "POST" || !UPLOAD_OR_UNDO.test(new URL(request.url).pathname)) return false;
  try {
    if (request.headers.get("content-type")?.startsWith("multipart/") === true) {
      const dryRun = (await request.clone().formData()).get("upload[dry_run]");
      return typeof dryRun === "string" && /^true$/i.test(dryRun);
    }
    const { upload, undo } = (await request.clone().json()) as MayBeTrial;
    return upload?.dry_run === true || undo?.dry_run === true;
  } catch {
    // The body of an undo may be empty.
    return false;
  }
}

/**
 * How to find out what became of a request that may have been carried out and must not be sent again, because two of it
 * don't have the effect of one.
 * @returns undefined if it can be sent again
 */
export async function adviceIfUnrepeatable(request: Request): Promise<string | undefined> {
  const { pathname } = new URL(request.url);
  if (request.headers.has("if-match")) {
    return "Get the work item: if it has your change, all is well, else send the change with its new ETag.";
  }
  if (request.method !== "POST") return undefined;
  if (await isTrial(request)) {
    return "List the uploads to see whether the trial has started, or start another: trials change no work items.";
  }
  if (pathname.endsWith("/rotate_secret")) {
    return "The webhook may have a new secret, which can't be shown again. Rotate it again: the secrets before still sign, too.";
  }
  if (request.headers.has("idempotency-key") || REPEATABLE.test(pathname)) return undefined;
  return pathname.endsWith("/test")
    ? "Get the webhook to see its last delivery, or send another test."
    : "List what it may have made. With an Idempotency-Key it would have been sent again.";
}
