import { useEffect, useState } from "preact/hooks";
import { type Api, newKey, type Webhook } from "./api.ts";
import { Alert, Button, Check, Heading, Table, TextField } from "./parts.tsx";
import { shownTime } from "./shown.ts";
import { useWork } from "./use-calls.ts";

const STATUS = { active: "Active", failing: "Failing", disabled: "Paused" } as const;
const TYPES = { "work_items.changed": "Item changes", "upload.ended": "Finished imports" } as const;
const ALL_TYPES = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** A name in the page's words; unchanged if the page doesn't know it yet. */
function shownAs(names: Readonly<Record<string, string>>, name: string): string {
  return names[name] ?? name;
}

/** What a receiver answered. */
function answerOf({ status, reason }: { readonly status: number | null; readonly reason: string | null }): string {
  return status === null ? `no response: ${reason ?? "unknown"}` : `status ${status}`;
}

function lastCallOf({ last_delivery: last, next_attempt_at: next }: Webhook): string {
  if (last === null) return "None yet";
  const again = next === null ? "" : `; next attempt ${shownTime(next)}`;
  return `${shownTime(last.at)}, ${answerOf(last)}, ${last.milliseconds} ms${again}`;
}

/** Asks where to send messages, and which. */
function AddForm({ onAdd }: { readonly onAdd: (url: string, types: Webhook["types"]) => Promise<boolean> }) {
  const [url, setUrl] = useState("");
  const [types, setTypes] = useState(ALL_TYPES);
  const { isRunning, run } = useWork();
  const submit = async (): Promise<void> => {
    if (await onAdd(url.trim(), types)) setUrl("");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(submit);
      }}
    >
      <h2>Add a webhook</h2>
      <TextField label="Endpoint URL (https)" value={url} onChange={setUrl} />
      <fieldset class="question">
        <legend>Send a message for</legend>
        {ALL_TYPES.map((type) => (
          <Check
            key={type}
            checked={types.includes(type)}
            onChange={(checked) =>
              setTypes(ALL_TYPES.filter((each) => (each === type ? checked : types.includes(each))))
            }
          >
            {TYPES[type]}
          </Check>
        ))}
      </fieldset>
      <button class="main" disabled={isRunning || url.trim() === "" || types.length === 0}>
        Add webhook
      </button>
    </form>
  );
}

/** The organization's webhooks: their last calls, and a form to add one. */
export function WebhooksView({ api: { webhooks: calls } }: { readonly api: Api }) {
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>();
  const [note, setNote] = useState("");
  const [secret, setSecret] = useState<string>();
  const { error, run } = useWork();
  const load = async (): Promise<void> => setWebhooks(await calls.list());
  useEffect(() => void run(load), []);
  /** @param work returns a sentence about what it did @returns whether it succeeded */
  const act = (work: () => Promise<string>): Promise<boolean> => {
    setNote("");
    return run(async () => {
      setNote(await work());
      await load();
    });
  };
  const add = (url: string, types: Webhook["types"]): Promise<boolean> =>
    act(async () => {
      setSecret((await calls.create({ url, types }, { idempotencyKey: newKey() })).secret);
      return "Webhook added. Its first message arrives within three minutes.";
    });
  const test = async ({ id }: Webhook): Promise<string> => {
    const outcome = await calls.test(id);
    return `Test message: ${answerOf(outcome)}, ${outcome.milliseconds} ms.`;
  };
  const pause = async ({ id, status }: Webhook): Promise<string> => {
    const isPaused = status === "disabled";
    await calls.update(id, { enabled: isPaused });
    return isPaused ? "The webhook is active again." : "The webhook is paused.";
  };
  const rowOf = (webhook: Webhook) => {
    const { url, types, status } = webhook;
    const pausing = status === "disabled" ? "Resume" : "Pause";
    return [
      url,
      types.map((type) => shownAs(TYPES, type)).join(", "),
      <span key="status" class={`status ${status}`}>
        {shownAs(STATUS, status)}
      </span>,
      lastCallOf(webhook),
      <>
        <Button aria-label={`Send a test message to ${url}`} onClick={() => void act(() => test(webhook))}>
          Test
        </Button>{" "}
        <Button aria-label={`${pausing} ${url}`} onClick={() => void act(() => pause(webhook))}>
          {pausing}
        </Button>
      </>,
    ];
  };
  return (
    <>
      <Heading>Webhooks</Heading>
      <p class="lead">
        A webhook sends a signed message to your system when items have changed or an import has ended. See{" "}
        <a href="docs/get-notified">Get notified</a>.
      </p>
      <Alert text={error} />
      <p role="status">{webhooks === undefined && error === undefined ? "Loading…" : note}</p>
      {secret !== undefined && (
        <p class="warning">
          Signing secret. Copy it now; it won’t be shown again: <code>{secret}</code>
        </p>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <Table
          caption="Webhooks"
          columns={["URL", "Messages for", "Status", "Last call", "Actions"]}
          rows={webhooks.map(rowOf)}
        />
      )}
      {webhooks?.length === 0 && <p>No webhooks yet.</p>}
      <AddForm onAdd={add} />
    </>
  );
}
