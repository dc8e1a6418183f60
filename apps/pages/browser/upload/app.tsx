import { useEffect, useRef, useState } from "preact/hooks";
import { keep, KEPT_KEY, readKept } from "../kept.ts";
import type { ComponentType } from "preact";
import { type Api, createApi, type Job, NO_CONNECTION } from "./parts/api.ts";
import { ImportView } from "./match/import-view.tsx";
import { JobsView, LatestImports } from "./jobs/jobs-view.tsx";
import { takeKey } from "./given-key.ts";
import { KeyForm } from "./key-form.tsx";
import { Alert, Button, Heading } from "./parts/parts.tsx";
import type { Sent } from "./file/send.ts";
import { useLoaded } from "./parts/use-calls.ts";

const SECTIONS = { import: "Import a file", jobs: "Imports", items: "Items" } as const;
const SECTION_OF: Readonly<Record<string, string>> = { job: "jobs", item: "items" };

/**
 * What is shown: the view's name, an id, and the filters of a list. They come after `#` in the address, so that a reload and the
 * browser's history keep them. An unknown view becomes the import.
 */
function viewOf(hash: string) {
  const [view = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  // Unlike decodeURIComponent, it accepts a malformed text.
  const [[name, id] = ["", ""]] = [...new URLSearchParams(view)];
  const isKnown = Object.hasOwn(SECTIONS, name) || Object.hasOwn(SECTION_OF, name);
  return { name: isKnown ? name : "import", id, query };
}

/** @param onKey called with a key that comes with the address later */
function useView(onKey: (key: string) => void) {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => {
      const key = takeKey();
      if (key !== undefined) onKey(key);
      setHash(location.hash);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return viewOf(hash);
}

/** Views whose code is loaded after the page: who chooses a file needs none of them. */
const LATER = {
  job: async () => (await import("./jobs/job-view.tsx")).JobView,
  items: async () => (await import("./items/items-view.tsx")).ItemsView,
  item: async () => (await import("./items/item-view.tsx")).ItemView,
} as const;

/** Shows such a view. */
function Later<P extends object>({
  load,
  props,
}: {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}) {
  const loadView = () =>
    load().catch((cause: unknown) => {
      throw new Error(NO_CONNECTION, { cause });
    });
  const { value: View, error } = useLoaded(loadView, [load]);
  return View ? <View {...props} /> : <Alert text={error} />;
}

/** Names the organization that everything here is done for, and, opened, the key. */
function Owner({ api, onForget }: { readonly api: Api; readonly onForget: () => void }) {
  const { value } = useLoaded(() => api.me(), [api]);
  return (
    <details class="owner">
      <summary title={value?.organization}>{value?.organization ?? "Your key"}</summary>
      <div>
        {value && <p>{`${value.organization}, key ${value.key.name}`}</p>}
        <Button onClick={onForget}>Remove key</Button>
      </div>
    </details>
  );
}

/** The import page. @param root address of the service */
export function App({ root }: { readonly root: URL }) {
  const [api, setApi] = useState<Api | undefined>(() => {
    const key = readKept(() => sessionStorage, KEPT_KEY);
    return key === null ? undefined : createApi(root, key);
  });
  const [given, setGiven] = useState(takeKey);
  const [sentFiles, setSentFiles] = useState<readonly Sent[]>([]);
  const [earlier, setEarlier] = useState<Job>();
  const { name, id, query } = useView(setGiven);
  const list = useRef("#items");
  // Before one is shown, so that a lost connection doesn't leave a section without its view.
  useEffect(() => void Promise.allSettled(Object.values(LATER).map((load) => load())), []);
  if (name === "items") list.current = query === "" ? "#items" : `#items?${query}`;
  useEffect(() => {
    if (api === undefined || name === "import") document.title = "Import a file · Work items";
  }, [api, name]);
  const useAgain = (job: Job): void => {
    setEarlier(job);
    location.hash = "#import";
  };
  const use = (next: Api | undefined): void => {
    setGiven(undefined);
    setApi(next);
    setSentFiles([]);
    setEarlier(undefined);
  };
  const forgetKey = (): void => {
    keep(() => sessionStorage, KEPT_KEY, null);
    use(undefined);
  };
  if (api === undefined || (given !== undefined && createApi(root, given).name !== api.name)) {
    return <KeyForm key={given} root={root} given={given} onApi={use} onKeep={api && (() => setGiven(undefined))} />;
  }
  const own = name === "job" ? sentFiles.find(({ jobId }) => jobId === id) : undefined;
  const current = own ? "import" : (SECTION_OF[name] ?? name);
  const keepSent = (sent: Sent): void => setSentFiles([...sentFiles.filter(({ jobId }) => jobId !== sent.jobId), sent]);
  const job = name === "job" && (
    <Later key={id} load={LATER.job} props={{ api, id, sent: own, onSent: keepSent, onUseAgain: useAgain }} />
  );
  return (
    <div class="wide">
      <nav class="sections" aria-label="Sections">
        {Object.entries(SECTIONS).map(([section, title]) => (
          <a key={section} href={`#${section}`} aria-current={section === current ? "page" : undefined}>
            {title}
          </a>
        ))}
        <Owner api={api} onForget={forgetKey} />
      </nav>
      {name === "jobs" && <JobsView api={api} />}
      {!own && job}
      {name === "items" && <Later key={query} load={LATER.items} props={{ api, query }} />}
      {name === "item" && <Later key={id} load={LATER.item} props={{ api, id, list: list.current }} />}
      <div hidden={current !== "import"}>
        {current === "import" && <Heading>Import a file</Heading>}
        <ImportView
          api={api}
          earlier={earlier}
          sent={sentFiles.at(-1)}
          job={own && { isTrial: own.dryRun, view: job }}
          latest={current === "import" && <LatestImports api={api} />}
          onForget={() => setEarlier(undefined)}
          onSent={keepSent}
        />
      </div>
    </div>
  );
}
