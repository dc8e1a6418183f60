import { readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { PROJECT_ROOT } from "../../infra/build.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { reasonOf } from "@work-items/terminal/plain-reason.ts";

const SAMPLES = join(PROJECT_ROOT, "events");

/** Placeholder of the API key in the samples in `events/`. */
const KEY_PLACEHOLDER = "${API_KEY}";

const SPLIT_UPLOAD = ["upload-work-items", "split-upload"] as const;
const ENDED_UPLOAD = [...SPLIT_UPLOAD, "apply-upload-chunk"] as const;
const ITEM = ["create-work-item"] as const;
const WEBHOOK = ["create-webhook"] as const;

/** By sample: the samples to send before it, in order. Each can be repeated. */
const PREPARATIONS: Readonly<Record<string, readonly string[]>> = {
  "create-work-item.409": ITEM,
  "get-work-item": ITEM,
  "get-work-item-batch": ITEM,
  "update-work-item": ITEM,
  "update-work-item.412": ITEM,
  "upsert-work-item-event": ITEM,
  "list-work-item-events": ITEM,
  "delete-work-item-event": ITEM,
  "delete-work-item-event.404": ITEM,
  "list-work-items": ITEM,
  "list-work-item-changes": ITEM,
  "record-qa-score": ITEM,
  "delete-work-item": ["apply-work-item-batch"],
  "delete-work-item-batch": ["apply-work-item-batch"],
  "get-conversation-upload": ["record-conversation-upload"],
  "list-conversation-uploads": ["record-conversation-upload"],
  "split-upload": ["upload-work-items"],
  "split-upload.s3": ["upload-work-items"],
  "apply-upload-chunk": SPLIT_UPLOAD,
  "get-work-item-upload": ENDED_UPLOAD,
  "list-work-item-uploads": ["upload-work-items"],
  "get-work-item-upload-failed-rows": ENDED_UPLOAD,
  "get-work-item-upload-results": ENDED_UPLOAD,
  "undo-work-item-upload": ENDED_UPLOAD,
  "list-webhooks": WEBHOOK,
  "get-webhook": WEBHOOK,
  "update-webhook": WEBHOOK,
  "rotate-webhook-secret": WEBHOOK,
  "test-webhook": WEBHOOK,
  "resend-webhook": WEBHOOK,
  "delete-webhook": WEBHOOK,
  "cancel-work-item-upload": ["upload-work-items.form"],
  "cancel-work-item-upload.409": ENDED_UPLOAD,
};

/** Name of a sample's file, without `.json`. */
function sampleOf(file: string): string {
  return basename(file, ".json");
}

/** The events that create what a sample needs, in order, each with its function. */
export function preparationsOf(file: string): readonly (readonly [functionName: string, file: string])[] {
  const samples = resolve(dirname(file)) === SAMPLES ? (PREPARATIONS[sampleOf(file)] ?? []) : [];
  return samples.map((sample) => [sample.split(".", 1)[0] ?? "", join(SAMPLES, `${sample}.json`)]);
}

/**
 * Reads an event from a file, as JSON text.
 * @param key replaces `${API_KEY}` in the event's strings
 * @throws CommandError if the file can't be read or isn't JSON
 */
export function readEvent(file: string, key = KEY_PLACEHOLDER): string {
  const replaceKey = (_: string, value: unknown): unknown =>
    typeof value === "string" ? value.replaceAll(KEY_PLACEHOLDER, () => key) : value;
  try {
    return JSON.stringify(JSON.parse(readFileSync(file, "utf8"), replaceKey));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "isn't valid JSON" : "cannot be read";
    throw new CommandError(`${file} ${reason} (${reasonOf(error)}): name an event file, such as those in events/`);
  }
}
