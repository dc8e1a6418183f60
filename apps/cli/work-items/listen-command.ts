import { ApiError, bodyOf } from "work-items-client/api-error.ts";
import type { Client, UploadJob } from "work-items-client/client.ts";
import { hasEnded } from "work-items-client/upload-calls.ts";
import manifest from "../../../package.json" with { type: "json" };
import { createCallReceiver } from "@work-items/lib/webhooks/call-receiver.ts";
import {
  toEndedJob,
  endOf,
  isSuccess,
  changesMessage,
  type WebhookMessage,
} from "@work-items/lib/webhooks/endpoint-state.ts";
import { generateSecret } from "@work-items/lib/webhooks/signature.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { type Command, textOption } from "./command.ts";
import { explain } from "./service-client.ts";

/** Time between polls. */
const POLL_MS = 2000;
/** Number of uploads to read. Those that ended since the last poll are among the newest. */
const UPLOADS_MAX = 100;
/** Stands for a webhook's id in the ids of messages. */
const LISTENER = "listen";

/** Reads the feed to its end. @returns the cursor there */
async function newestCursor(client: Client, after: string): Promise<string> {
  try {
    let cursor = after;
    for (;;) {
      const query = { after: cursor, limit: 1000 };
      const { meta } = await bodyOf(client.http.GET("/v1/work_items/changes", { params: { query } }));
      cursor = meta.page.next;
      if (!meta.page.more) return cursor;
    }
  } catch (error) {
    // Changes after the cursor are no longer available. A reader gets the same response.
    if (error instanceof ApiError && error.status === 410 && after !== "now") return newestCursor(client, "now");
    throw error;
  }
}

async function endedUploads({ uploads }: Client): Promise<UploadJob[]> {
  const ended: UploadJob[] = [];
  let listed = 0;
  for await (const job of uploads.list({ limit: UPLOADS_MAX })) {
    if (hasEnded(job)) ended.push(job);
    if (++listed === UPLOADS_MAX) break;
  }
  return ended;
}

/** Sends a program on this computer the messages of a webhook, which would need an address on the internet. */
export const listenCommand: Command = {
  arguments: "",
  summary: "send webhook messages to a receiver on this computer while you develop it",
  options: {
    "--forward-to <url>": "your receiver, such as http://localhost:4000/hook",
    "--secret <whsec_…>": "signs the messages (default: a new one, which is shown)",
  },
  examples: ["listen --forward-to http://localhost:4000/hook"],
  run: async ({ terminal, client, options }) => {
    const url = textOption(options, "forwardTo");
    if (url === undefined || !URL.canParse(url)) throw new UsageError("--forward-to requires the URL of your receiver");
    const secret = textOption(options, "secret") ?? generateSecret();
    if (!secret.startsWith("whsec_")) throw new UsageError("--secret requires a secret that begins with whsec_");
    const call = createCallReceiver({
      clock: terminal.clock,
      environment: { WEBHOOKS_TO_LOCALHOST: true, VERSION: manifest.version },
    });
    const service = client();
    const sent = new Set((await endedUploads(service)).map(({ id }) => id));
    let cursor = await newestCursor(service, "now");
    terminal.note(`The messages are signed with ${secret}`);
    terminal.note(`Listening. Messages go to ${url} until you stop this command.`);
    const forward = async (message: WebhookMessage): Promise<boolean> => {
      const outcome = await call(url, message, { secret });
      const answer = outcome.status ?? outcome.reason;
      terminal.print(`${message.type} ${JSON.stringify(message.data)} -> ${answer}`);
      return isSuccess(outcome);
    };
    const poll = async (): Promise<void> => {
      const next = await newestCursor(service, cursor);
      // Messages that the receiver didn't accept are sent again.
      if (next !== cursor && (await forward(changesMessage(LISTENER, Number(next))))) cursor = next;
      for (const job of (await endedUploads(service)).toReversed()) {
        if (!sent.has(job.id) && (await forward(endOf(LISTENER, toEndedJob(job))))) sent.add(job.id);
      }
    };
    for (;;) {
      await terminal.sleep(POLL_MS);
      await poll().catch((error: unknown) => {
        const message = explain(terminal, error);
        const isRejected = error instanceof ApiError && [401, 403].includes(error.status);
        if (message === undefined || isRejected) throw error;
        terminal.note(message);
      });
    }
  },
};
