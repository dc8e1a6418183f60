import { useEffect, useState } from "preact/hooks";
import type { Api, Webhook } from "./api.ts";
import { Alert, Heading, Table, TextField } from "./parts.tsx";
import { sentenceOf, shownTime } from "./shown.ts";

const STATUS = { active: "Active", failing: "Failing", disabled: "Paused" } as const;
const TYPES = { "work_items.changed": "Changed items", "upload.ended": "Finished imports" } as const;
type Type = keyof typeof TYPES;

/** How something is shown that the service may give other names some day. */
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
function AddForm({ onAdd }: { readonly onAdd: (url: string, types: Type[]) => Promise<boolean> }) {
  const [url, setUrl] = useState("");
  const [types, setTypes] = useState<readonly Type[]>(Object.keys(TYPES) as Type[]);
  const [isSending, setSending] = useState(false);
  const submit = async (): Promise<void> => {
    setSending(true);
    if (await onAdd(url.trim(), [...types])) setUrl("");
    setSending(false);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2>Add a webhook</h2>
      <TextField label="URL that receives messages (https)" value={url} onChange={setUrl} />
      <fieldset class="question">
        <legend>Notify it of</legend>
        {(Object.keys(TYPES) as Type[]).map((type) => (
          <label key={type} class="check">
            <input
              type="checkbox"
              checked={types.includes(type)}
              onChange={({ currentTarget: { checked } }) =>
                setTypes(checked ? [...types, type] : types.filter((other) => other !== type))
              }
            />{" "}
            {TYPES[type]}
          </label>
        ))}
      </fieldset>
      <button class="main" disabled={isSending || url.trim() === "" || types.length === 0}>
        Add webhook
      </button>
    </form>
  );
}

/** The organization's webhooks: their last calls, and a form to add one. */
export function WebhooksView({ api }: { readonly api: Api }) {
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>();
  const [error, setError] = useState<string>();
  const [note, setNote] = useState("");
  const [secret, setSecret] = useState<string>();
  const fail = (caught: unknown): void => setError(sentenceOf(caught));
  const load = (): Promise<void> => api.webhooks.list().then(setWebhooks, fail);
  useEffect(() => void load(), [api]);
  /** @param work returns what was done @returns whether it was */
  const attempt = async (work: () => Promise<string>): Promise<boolean> => {
    setError(undefined);
    setNote("");
    try {
      setNote(await work());
    } catch (caught) {
      fail(caught);
      return false;
    }
    await load();
    return true;
  };
  const act = (work: () => Promise<string>) => () => void attempt(work);
  const add = (url: string, types: Type[]): Promise<boolean> =>
    attempt(async () => {
      const { secret: made } = await api.webhooks.create(url, types);
      setSecret(made);
      return "The webhook is added. Its first message comes within three minutes.";
    });
  const test = ({ id }: Webhook) =>
    act(async () => {
      const outcome = await api.webhooks.test(id);
      return `Test message: ${answerOf(outcome)}, ${outcome.milliseconds} ms.`;
    });
  const pause = ({ id, status }: Webhook) =>
    act(async () => {
      await api.webhooks.enable(id, status === "disabled");
      return status === "disabled" ? "The webhook is active again." : "The webhook is paused.";
    });
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
        <div class="warning">
          <p>
            The secret that signs the messages, shown only now: <code>{secret}</code>
          </p>
        </div>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <Table
          caption="Webhooks"
          columns={["URL", "Notified of", "Status", "Last call", "Actions"]}
          rows={webhooks.map((webhook) => [
            webhook.url,
            webhook.types.map((type) => shownAs(TYPES, type)).join(", "),
            <span key="status" class={`status ${webhook.status}`}>
              {shownAs(STATUS, webhook.status)}
            </span>,
            lastCallOf(webhook),
            <>
              <button type="button" aria-label={`Send a test message to ${webhook.url}`} onClick={test(webhook)}>
                Test
              </button>{" "}
              <button
                type="button"
                aria-label={`${webhook.status === "disabled" ? "Resume" : "Pause"} ${webhook.url}`}
                onClick={pause(webhook)}
              >
                {webhook.status === "disabled" ? "Resume" : "Pause"}
              </button>
            </>,
          ])}
        />
      )}
      {webhooks?.length === 0 && <p>No webhooks yet.</p>}
      <AddForm onAdd={add} />
    </>
  );
}
