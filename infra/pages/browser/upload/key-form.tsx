import { useState } from "preact/hooks";
import { createApi } from "./api.ts";
import { Alert } from "./parts.tsx";
import { sentenceOf } from "./shown.ts";

/** Asks for a key and checks it. It is kept in this page's memory only. */
export const KeyForm = ({ root, onKey }: { readonly root: URL; readonly onKey: (key: string) => void }) => {
  const [error, setError] = useState<string>();
  const [isChecking, setChecking] = useState(false);
  const check = async (key: string): Promise<void> => {
    setChecking(true);
    setError(undefined);
    try {
      await createApi(root, key).get("v1/work_items/upload", { limit: "1" });
      onKey(key);
    } catch (caught) {
      setError(sentenceOf(caught));
      setChecking(false);
    }
  };
  return (
    <form
      class="text"
      onSubmit={(event) => {
        event.preventDefault();
        const key = new FormData(event.currentTarget).get("key");
        void check(typeof key === "string" ? key.trim() : "");
      }}
    >
      <h1>Upload</h1>
      <p class="lead">
        Import a file of another system, CSV or an Excel workbook, and look at the items. Nothing is written before you
        have seen what would be.
      </p>
      <label class="field">
        <span>API key of your organization</span>
        <input name="key" type="password" required autocomplete="off" spellcheck={false} placeholder="wi_…" />
      </label>
      <p class="note">The key stays in this tab's memory. It is gone when the tab is closed or reloaded.</p>
      <Alert text={error} />
      <button class="main" disabled={isChecking}>
        {isChecking ? "Checking…" : "Begin"}
      </button>
    </form>
  );
};
