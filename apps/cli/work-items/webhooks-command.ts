import type { Client, Webhook, WebhookWithSecret } from "work-items-client/client.ts";
import { UsageError } from "@work-items/terminal/command-line.ts";
import { type Command, type CommandCall, EXIT } from "./command.ts";

/** What a receiver answered, in words. */
function answerOf({
  status,
  reason,
  milliseconds,
}: Pick<NonNullable<Webhook["last_delivery"]>, "status" | "reason" | "milliseconds">): string {
  return `${status ?? reason} after ${milliseconds} ms`;
}

function describeWebhook(webhook: Webhook): string {
  const { id, url, types, status, disabled_reason: reason, last_delivery: last, next_attempt_at: next } = webhook;
  const { description } = webhook;
  const delivery = last === null ? "no delivery yet" : `last delivery ${last.at}: ${answerOf(last)}`;
  return [
    id,
    reason === null ? status : `${status} (${reason})`,
    url,
    types.join(","),
    delivery,
    ...(next === null ? [] : [`next attempt ${next}`]),
    ...(description === null || description === "" ? [] : [description]),
  ].join("  ");
}

function print({ terminal, options }: CommandCall, webhook: Webhook): void {
  if (options["json"] === true) terminal.printData(JSON.stringify(webhook));
  else terminal.print(describeWebhook(webhook));
}

/** Prints a webhook and a line for each of its last deliveries, newest first. */
async function show(call: CommandCall, { webhooks }: Client, id: string): Promise<void> {
  const webhook = await webhooks.get(id);
  print(call, webhook);
  if (call.options["json"] === true) return;
  const { deliveries = [] } = webhook;
  if (deliveries.length > 0) call.terminal.print("sent at  type  answer  message");
  for (const delivery of deliveries) {
    const { at, type, message_id: message } = delivery;
    call.terminal.print(`${at}  ${type}  ${answerOf(delivery)}  ${message}`);
  }
}

/** Prints only the secret to standard output, so that a script can keep it. */
function printSecret(call: CommandCall, webhook: WebhookWithSecret): void {
  if (call.options["json"] === true) return print(call, webhook);
  call.terminal.note(describeWebhook(webhook));
  call.terminal.note("Keep the secret. It won't be shown again:");
  call.terminal.print(webhook.secret);
}

async function test({ terminal, options }: CommandCall, { webhooks }: Client, id: string): Promise<void> {
  const answer = await webhooks.test(id);
  const { status } = answer;
  if (options["json"] === true) terminal.printData(JSON.stringify(answer));
  else terminal.print(`The receiver answered ${answerOf(answer)}.`);
  if (status === null || status < 200 || status > 299) terminal.exitCode = EXIT.someFailed;
}

async function resend(call: CommandCall, { webhooks }: Client, id: string): Promise<void> {
  print(call, await webhooks.resend(id));
  // Until then, the last delivery is the one that failed.
  call.terminal.note(`The receiver will be called within seconds. webhooks show ${id} prints its answer.`);
}

/** The actions on the webhook with an ID. */
const ACTIONS: Readonly<Record<string, (call: CommandCall, client: Client, id: string) => Promise<void>>> = {
  show,
  test,
  resend,
  pause: async (call, { webhooks }, id) => print(call, await webhooks.update(id, { enabled: false })),
  resume: async (call, { webhooks }, id) => print(call, await webhooks.update(id, { enabled: true })),
  rotate: async (call, { webhooks }, id) => printSecret(call, await webhooks.rotateSecret(id)),
  remove: async ({ terminal }, { webhooks }, id) => terminal.print(`removed ${(await webhooks.delete(id)).id}`),
};

function typesIn(given: unknown): Webhook["types"] | undefined {
  // The service rejects unknown types.
  return typeof given === "string" ? (given.split(",") as Webhook["types"]) : undefined;
}

export const webhooksCommand: Command = {
  arguments: "[action] [url-or-id]",
  summary:
    "list webhooks; add <url>, or show, test, resend, pause, resume, rotate or remove <id>. " +
    "add and rotate print the secret alone to the standard output, and the webhook with its ID to the standard error",
  options: {
    "--types <types>": "which messages to send, such as work_items.changed,upload.ended (default: all)",
    "--description <text>": "your own note, for add",
    "--json": "print webhooks as JSON, with the secret after add and rotate",
  },
  examples: [
    "webhooks",
    "webhooks add https://hooks.example.com/work-items",
    "webhooks pause 0b0cf3c8-5d0e-8b1a-9d5c-2f6f6a1c9b1e",
  ],
  run: async (call) => {
    const { options, positionals } = call;
    const [action = "list", target] = positionals;
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (act === undefined && action !== "list" && action !== "add") {
      throw new UsageError(`unknown action ${action}; use list, add, ${Object.keys(ACTIONS).join(", ")}`);
    }
    if (action !== "list" && target === undefined) {
      throw new UsageError(
        action === "add" ? "the URL of your receiver is required" : "the ID of a webhook is required",
      );
    }
    const client = call.client();
    if (act !== undefined) return act(call, client, target ?? "");
    if (action === "add") {
      const types = typesIn(options["types"]);
      const { description } = options;
      const more = { ...(types && { types }), ...(typeof description === "string" && { description }) };
      printSecret(call, await client.webhooks.create({ url: target ?? "", ...more }));
      return;
    }
    for (const webhook of await client.webhooks.list()) print(call, webhook);
  },
};
