import { keep, KEPT_KEY } from "../kept.ts";
import { type Api, createApi } from "./parts/api.ts";
import { STEP_NAMES, STEPS } from "./parts/import-steps.ts";
import { Alert } from "./parts/parts.tsx";
import { useWork } from "./parts/use-calls.ts";

/** Asks for a key and checks it. */
export function KeyForm({ root, onApi }: { readonly root: URL; readonly onApi: (api: Api) => void }) {
  const { isRunning, error, run } = useWork();
  const check = async (form: FormData): Promise<void> => {
    const key = (form.get("key") as string).trim();
    const api = createApi(root, key);
    await api.me();
    if (form.has("keep")) keep(() => sessionStorage, KEPT_KEY, key);
    onApi(api);
  };
  return (
    <form
      class="text"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        void run(() => check(form));
      }}
    >
      <h1>Import a file</h1>
      <p class="lead">
        Bring work items in from another system, and see those that your organization already has. Nothing is imported
        until you’ve reviewed the result.
      </p>
      <ol>
        {STEP_NAMES.map((name) => (
          <li key={name}>
            <b>{name}</b>: {STEPS[name]}
          </li>
        ))}
      </ol>
      <label class="field">
        <span>Your organization’s API key</span>
        <input name="key" type="password" required autocomplete="off" spellcheck={false} placeholder="wi_…" />
      </label>
      <label class="check">
        <input type="checkbox" name="keep" /> Keep the key when I reload this tab
      </label>
      <p class="note">
        Your key is kept in this tab only. Closing the tab removes it. If you have none, ask the administrator of your
        organization for a key.
      </p>
      <Alert text={error} />
      <button class="main" disabled={isRunning}>
        {isRunning ? "Checking…" : "Continue"}
      </button>
    </form>
  );
}
