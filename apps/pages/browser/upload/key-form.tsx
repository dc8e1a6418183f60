import { useEffect } from "preact/hooks";
import { keep, KEPT_KEY } from "../kept.ts";
import { type Api, createApi } from "./parts/api.ts";
import { Alert, Button } from "./parts/parts.tsx";
import { useWork } from "./parts/use-calls.ts";

/** Asks for a key and checks it. */
export function KeyForm({
  root,
  given,
  onApi,
  onKeep,
}: {
  readonly root: URL;
  /** The key that came with the address. It is used at once, unless this tab has another one. */
  readonly given: string | undefined;
  readonly onApi: (api: Api) => void;
  /** Keeps the key that this tab has. */
  readonly onKeep: (() => void) | undefined;
}) {
  const { isRunning, error, run } = useWork();
  const check = async (key: string, isKept: boolean): Promise<void> => {
    const api = createApi(root, key);
    await api.me();
    if (isKept || onKeep) keep(() => sessionStorage, KEPT_KEY, isKept ? key : null);
    onApi(api);
  };
  useEffect(() => {
    if (given !== undefined && !onKeep) void run(() => check(given, false));
  }, []);
  return (
    <form
      class="wide narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void run(() => check((form.get("key") as string).trim(), form.has("keep")));
      }}
    >
      <h1>Import a file</h1>
      <p class="lead">
        Bring work items in from another system, and see those that your organization already has. Nothing is imported
        until you’ve reviewed the result. <a href={new URL("docs/import-a-file", root).href}>How it works</a>
      </p>
      <label class="field check">
        <span>Your organization’s API key</span>
        <input
          name="key"
          type="password"
          required
          autocomplete="off"
          spellcheck={false}
          placeholder="wi_…"
          defaultValue={given}
        />
      </label>
      <label class="check">
        <input type="checkbox" name="keep" /> Keep the key when I reload this tab
      </label>
      <p class="note">
        Your key is kept in this tab only. Closing the tab removes it. If you have none, ask the administrator of your
        organization for a key.
      </p>
      {onKeep && <p class="unchecked">The address has another key than this tab. Continue replaces the tab’s key.</p>}
      <Alert text={error} />
      <p class="buttons">
        <button class="main" disabled={isRunning}>
          {isRunning ? "Checking…" : "Continue"}
        </button>
        {onKeep && <Button onClick={onKeep}>Keep this tab’s key</Button>}
      </p>
    </form>
  );
}
