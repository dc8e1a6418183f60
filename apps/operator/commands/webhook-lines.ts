import { toWebhookResponse } from "@work-items/lib/webhooks/webhook.ts";
import { listWithStates } from "@work-items/lib/webhooks/webhook-store.ts";
import type { Terminal } from "@work-items/terminal/terminal.ts";
import { nameDamaged, type Result } from "./target-tables.ts";
import type { OperatorRuntime } from "./operator-runtime.ts";

/** What an operator sees of a webhook: only the host of its URL, since the rest can be a secret, and what is due. */
async function webhooksOf(terminal: Terminal, runtime: OperatorRuntime, organization: string) {
  const found = await listWithStates(runtime, organization, nameDamaged(terminal));
  return found.map(({ webhook, state }) => {
    const { url, description: _, ...shown } = toWebhookResponse(webhook, state);
    return { ...shown, host: new URL(url).host, changes_due: state.due ?? null, uploads_due: state.jobs.length };
  });
}

function describe(webhook: Awaited<ReturnType<typeof webhooksOf>>[number]): string {
  const { id, host, status, disabled_reason: reason } = webhook;
  const { failing_since: since, next_attempt_at: next, last_delivery: last } = webhook;
  return [
    `${id}: ${status}${reason === null ? "" : ` (${reason})`}, ${host}`,
    last === null ? "no delivery yet" : `last delivery at ${last.at}: ${last.status ?? last.reason}`,
    ...(since === null ? [] : [`failing since ${since}`]),
    ...(next === null ? [] : [`next attempt at ${next}`]),
    ...(webhook.changes_due === null ? [] : [`changes due up to ${webhook.changes_due}`]),
    ...(webhook.uploads_due === 0 ? [] : [`ended uploads due: ${webhook.uploads_due}`]),
  ].join("; ");
}

/** `organizations webhooks`: a line for each webhook. */
export async function showWebhooks(
  terminal: Terminal,
  runtime: OperatorRuntime,
  organization: string,
): Promise<Result> {
  const webhooks = await webhooksOf(terminal, runtime, organization);
  return [webhooks, webhooks.map(describe).join("\n") || `${organization} has no webhooks`];
}
