/** POSTs that can be repeated without an `Idempotency-Key`: a second one has no other effect. */
const REPEATABLE =
  /\/v1\/(?:work_items\/(?:batch(?:_get|_delete)?|[^/]+\/events|upload\/[^/]+\/undo)|webhooks\/[^/]+\/resend)$/;
const UPLOAD_OR_UNDO = /\/v1\/work_items\/upload(?:\/[^/]+\/undo)?$/;

/** The part of a JSON body that may start a trial. */
interface MayBeTrial {
  readonly upload?: { readonly dry_run?: unknown };
  readonly undo?: { readonly dry_run?: unknown };
}

/** Whether a request starts the trial of an upload or of an undo: a second one is another job once the first has ended. */
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
 * For a request that must not be sent again because repeating it has another effect: how to find out whether it was
 * carried out.
 * @returns undefined if it can be sent again
 */
export async function adviceIfUnrepeatable(request: Request): Promise<string | undefined> {
  const { pathname } = new URL(request.url);
  if (request.headers.has("if-match")) {
    return "Get the work item. If it doesn't have your change, send the change again with the new ETag.";
  }
  if (request.method !== "POST") return undefined;
  if (await isTrial(request)) {
    return "List the uploads to see whether the trial has started, or start another: trials don't change work items.";
  }
  if (pathname.endsWith("/rotate_secret")) {
    return "The webhook may have a new secret, which can't be shown again. Rotate it again: the previous secrets still sign, too.";
  }
  if (request.headers.has("idempotency-key") || REPEATABLE.test(pathname)) return undefined;
  return pathname.endsWith("/test")
    ? "Get the webhook to see its last delivery, or send another test."
    : "List what it may have created. With an Idempotency-Key, it would have been sent again.";
}
