import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { FAILING_DAYS_MAX } from "@work-items/lib/periods.ts";
import { COPIED_MS, copyText } from "../copy-text.ts";
import { type Api, newKey, type Webhook } from "./parts/api.ts";
import { inTypographicQuotes } from "./parts/field-names.ts";
import { Alert, Button, Check, Heading, Table, TextField } from "./parts/parts.tsx";
import { shownTime } from "./parts/shown.ts";
import { useWork } from "./parts/use-calls.ts";

type Calls = Api["webhooks"];

const STATUS = { active: "Active", failing: "Failing", disabled: "Disabled" } as const;
const TYPES = { "work_items.changed": "Item changes", "upload.ended": "Finished imports" } as const;
const ALL_TYPES = Object.keys(TYPES) as (keyof typeof TYPES)[];
/** Types of messages in the page's words. */
const MESSAGES = { ...TYPES, "uploads.ended": "Finished imports, several", "webhook.test": "Test" } as const;

/** How long the page waits for the delivery that it has asked for. */
const RESENT_TRIES = 10;
const RESENT_EVERY_MS = 1000;

/** A name in the page's words; unchanged if the page doesn't know it yet. */
function shownAs(names: Readonly<Record<string, string>>, name: string): string {
  return names[name] ?? name;
}

/** What a receiver answered, such as "200 in 34 ms" or "failed: the host wasn't found". */
function resultOf({
  status,
  reason,
  milliseconds,
}: Pick<NonNullable<Webhook["last_delivery"]>, "status" | "reason" | "milliseconds">): string {
  if (status === null) return `failed: ${inTypographicQuotes(reason ?? "no response")}`;
  return `${status >= 200 && status < 300 ? "" : "failed: "}${status} in ${milliseconds} ms`;
}

/** What a person can do about a webhook that doesn't work; undefined for one that does. */
function adviceOn(webhook: Webhook): string | undefined {
  const { status, disabled_reason: reason, failing_since: since, next_attempt_at: next } = webhook;
  if (status === "failing") {
    const again = next === null ? "" : ` The next attempt is on ${shownTime(next)}.`;
    return `Failing since ${shownTime(since)}.${again} Fix your receiver, then choose “Send again”.`;
  }
  if (status !== "disabled") return undefined;
  if (reason === "gone") return "Disabled because your receiver answered 410. Resume it when the receiver is back.";
  if (reason === "failures")
    return `Disabled after ${FAILING_DAYS_MAX} days of failures. Fix your receiver, then resume the webhook.`;
  return "Paused. It gets no messages until you resume it.";
}

/** Copies a text. */
function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState<string>();
  const copy = async (): Promise<void> => {
    setSaid(await copyText(text));
    setTimeout(() => setSaid(undefined), COPIED_MS);
  };
  return (
    <Button aria-label={said === undefined ? `Copy ${what}` : undefined} onClick={() => void copy()}>
      {said ?? "Copy"}
    </Button>
  );
}

/** A secret that is shown once. It takes the focus. */
function Secret({ secret, note }: { readonly secret: string; readonly note: string }) {
  const shown = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => shown.current?.focus(), [secret]);
  return (
    <div ref={shown} class="warning" tabIndex={-1}>
      <p>Signing secret. Copy it now; it won’t be shown again:</p>
      <p>
        <code>{secret}</code> <CopyButton text={secret} what="the signing secret" />
      </p>
      <p class="note">{note}</p>
    </div>
  );
}

/** Asks whether to delete a webhook. It takes the focus, which then goes back to the button before it. */
function ConfirmDeletion({
  url,
  onDelete,
  onCancel,
}: {
  readonly url: string;
  readonly onDelete: () => void;
  readonly onCancel: () => void;
}) {
  const group = useRef<HTMLDivElement>(null);
  // Before the browser can react to a key.
  useLayoutEffect(() => group.current?.querySelector("button")?.focus(), []);
  return (
    <div ref={group} class="warning" role="group" aria-label={`Delete ${url}?`}>
      <p>Delete this webhook? Your receiver gets no more messages, and its secret and deliveries are deleted.</p>
      <p class="buttons">
        <Button onClick={onDelete}>Delete webhook</Button>{" "}
        <Button kind="plain" onClick={onCancel}>
          Cancel
        </Button>
      </p>
    </div>
  );
}

/** A webhook's last calls. */
function Deliveries({ of: { url, deliveries = [] } }: { readonly of: Webhook }) {
  if (deliveries.length === 0) return <p>No deliveries yet.</p>;
  const rows = deliveries.map(({ at, type, message_id: message, ...outcome }) => [
    shownTime(at),
    resultOf(outcome),
    shownAs(MESSAGES, type),
    <code key="id">{message}</code>,
  ]);
  return (
    <Table caption={`Recent deliveries to ${url}`} columns={["Time", "Result", "Message", "Message ID"]} rows={rows} />
  );
}

/** One webhook, and what can be done with it. */
function WebhookCard({
  webhook,
  calls,
  onChange,
  onDelete,
}: {
  readonly webhook: Webhook;
  readonly calls: Calls;
  readonly onChange: () => Promise<void>;
  readonly onDelete: () => Promise<void>;
}) {
  const { id, url, types, status, last_delivery: last } = webhook;
  const [shown, setShown] = useState<Webhook>();
  const [note, setNote] = useState("");
  const [secret, setSecret] = useState<string>();
  const [isDeleting, setDeleting] = useState(false);
  const { isRunning, error, run } = useWork();
  const deleteButton = useRef<HTMLSpanElement>(null);
  const load = async (): Promise<Webhook> => {
    const found = await calls.get(id);
    setShown(found);
    return found;
  };
  /** @param work returns a sentence about what it did */
  const act = (work: () => Promise<string>): void => {
    setNote("");
    void run(async () => {
      setNote(await work());
      await onChange();
      if (shown !== undefined) await load();
    });
  };
  const test = async (): Promise<string> => `Test message: ${resultOf(await calls.test(id))}.`;
  const resend = async (): Promise<string> => {
    const { deliveries: [before] = [] } = await calls.get(id);
    await calls.resend(id);
    for (let attempt = 0; attempt < RESENT_TRIES; attempt++) {
      await new Promise((passed) => setTimeout(passed, RESENT_EVERY_MS));
      const { deliveries: [newest] = [] } = await load();
      if (newest !== undefined && newest.message_id !== before?.message_id) return `Sent again: ${resultOf(newest)}.`;
    }
    return "Your receiver will be called soon. See recent deliveries.";
  };
  const resume = async (): Promise<string> => {
    await calls.update(id, { enabled: true });
    return "The webhook is active again. Its first message arrives within 20 seconds.";
  };
  const pause = async (): Promise<string> => {
    await calls.update(id, { enabled: false });
    return "The webhook is paused.";
  };
  const rotate = async (): Promise<string> => {
    setSecret((await calls.rotateSecret(id)).secret);
    return "The webhook has a new secret.";
  };
  const remove = (): void =>
    void run(async () => {
      await calls.delete(id);
      await onDelete();
    });
  const cancel = (): void => {
    setDeleting(false);
    deleteButton.current?.querySelector("button")?.focus();
  };
  const advice = adviceOn(webhook);
  const isDisabled = status === "disabled";
  return (
    <section class="webhook" aria-label={url}>
      <h2>
        <span class="url">{url}</span> <CopyButton text={url} what={url} />{" "}
        <span class={`status ${status}`}>
          {isDisabled && webhook.disabled_reason === "paused" ? "Paused" : shownAs(STATUS, status)}
        </span>
      </h2>
      <p>
        Sends {types.map((type) => shownAs(TYPES, type).toLowerCase()).join(" and ")}. Last delivery:{" "}
        {last === null ? "none yet" : `${shownTime(last.at)}, ${resultOf(last)}`}.
      </p>
      {advice !== undefined && <p class="warning">{advice}</p>}
      <p class="buttons">
        <Button disabled={isRunning} aria-label={`Send a test to ${url}`} onClick={() => act(test)}>
          Send a test
        </Button>
        {!isDisabled && (
          <Button disabled={isRunning} aria-label={`Send again to ${url}`} onClick={() => act(resend)}>
            Send again
          </Button>
        )}
        <Button
          disabled={isRunning}
          aria-label={`${isDisabled ? "Resume" : "Pause"} ${url}`}
          onClick={() => act(isDisabled ? resume : pause)}
        >
          {isDisabled ? "Resume" : "Pause"}
        </Button>
        <Button disabled={isRunning} aria-label={`Rotate secret of ${url}`} onClick={() => act(rotate)}>
          Rotate secret
        </Button>
        <span ref={deleteButton}>
          <Button disabled={isRunning} aria-label={`Delete ${url}`} onClick={() => setDeleting(true)}>
            Delete…
          </Button>
        </span>
      </p>
      {isDeleting && <ConfirmDeletion url={url} onDelete={remove} onCancel={cancel} />}
      <Alert text={error} />
      <p role="status">{isRunning ? "Working…" : note}</p>
      {secret !== undefined && <Secret secret={secret} note="The previous secret also signs messages for 24 hours." />}
      <details onToggle={({ currentTarget: { open } }) => open && shown === undefined && void run(load)}>
        <summary>Recent deliveries</summary>
        {shown !== undefined && <Deliveries of={shown} />}
      </details>
    </section>
  );
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

/** The organization's webhooks, what can be done with them, and a form to add one. */
export function WebhooksView({ api: { webhooks: calls } }: { readonly api: Api }) {
  const [webhooks, setWebhooks] = useState<readonly Webhook[]>();
  const [note, setNote] = useState("");
  const [secret, setSecret] = useState<string>();
  const { error, run } = useWork();
  const load = async (): Promise<void> => setWebhooks(await calls.list());
  useEffect(() => void run(load), []);
  const change = async (): Promise<void> => {
    await load();
    setNote("");
  };
  const showDeleted = async (): Promise<void> => {
    await load();
    setNote("The webhook is deleted.");
    // The focus was in what is gone.
    document.querySelector("h1")?.focus();
  };
  const add = (url: string, types: Webhook["types"]): Promise<boolean> => {
    setNote("");
    return run(async () => {
      setSecret((await calls.create({ url, types }, { idempotencyKey: newKey() })).secret);
      setNote("Webhook added. Its first message arrives within 20 seconds.");
      await load();
    });
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
      {webhooks === undefined && error !== undefined && <Button onClick={() => void run(load)}>Try again</Button>}
      {secret !== undefined && <Secret secret={secret} note="Your receiver needs it to check messages." />}
      {webhooks?.length === 0 && <p>No webhooks yet. Add one to get a message when something has changed.</p>}
      {webhooks?.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} calls={calls} onChange={change} onDelete={showDeleted} />
      ))}
      <AddForm onAdd={add} />
    </>
  );
}
