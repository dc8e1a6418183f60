import { keep, KEPT_KEY, readKept } from "../kept.ts";

/** The texts of a form's fields whose names begin with a place, without those that are empty. */
function textsOf(form: FormData, place: string): [string, string][] {
  return [...form].flatMap(([name, value]) =>
    name.startsWith(`${place}:`) && typeof value === "string" && value !== ""
      ? [[name.slice(place.length + 1), value] as [string, string]]
      : [],
  );
}

function requestOf(form: HTMLFormElement, root: URL): [URL, RequestInit] {
  const fields = new FormData(form);
  const textOf = (name: string): string => {
    const value = fields.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const path = form.dataset["path"]!.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(textOf(`path:${name}`)),
  );
  const url = new URL(path.slice(1), root);
  for (const [name, value] of textsOf(fields, "query")) url.searchParams.set(name, value);
  const headers = new Headers(textsOf(fields, "header"));
  if (textOf("key") !== "") headers.set("authorization", `Bearer ${textOf("key")}`);
  const parts = [...fields].filter(([name]) => name.startsWith("part:"));
  const method = form.dataset["method"]!;
  if (parts.length > 0) {
    const body = new FormData();
    for (const [name, value] of parts) if (value !== "") body.append(name.slice("part:".length), value);
    return [url, { method, headers, body }];
  }
  const body = fields.get("body");
  if (body !== null) headers.set("content-type", "application/json");
  return [url, { method, headers, ...(body !== null && { body }) }];
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/** What a person reads of a response: its status, its headers and its body. */
async function shownOf(response: Response, took: number): Promise<HTMLElement[]> {
  const head = document.createElement("p");
  head.textContent = `${response.status} ${response.statusText} in ${Math.round(took)} ms`;
  head.className = response.ok ? "good" : "bad";
  const headers = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "Headers";
  const list = document.createElement("pre");
  list.tabIndex = 0;
  list.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  headers.append(summary, list);
  const body = document.createElement("pre");
  body.tabIndex = 0;
  body.textContent = readable(await response.text());
  return [head, headers, body];
}

/** Shows the form of the page's endpoint and sends it. */
export function startSendForm(): void {
  const form = document.querySelector<HTMLFormElement>("form.send");
  const place = form?.querySelector<HTMLElement>(".sent");
  if (!form || !place) return;
  const root = new URL(document.querySelector<HTMLInputElement>("#search")!.dataset["root"]!, location.href);
  const key = form.querySelector<HTMLInputElement>("input[name=key]");
  if (key) key.value = readKept(() => sessionStorage, KEPT_KEY) ?? "";
  form.hidden = false;
  const send = async (): Promise<void> => {
    if (key && new FormData(form).has("keep")) keep(() => sessionStorage, KEPT_KEY, key.value.trim());
    place.textContent = "Sending…";
    const started = performance.now();
    try {
      const response = await fetch(...requestOf(form, root));
      place.replaceChildren(...(await shownOf(response, performance.now() - started)));
    } catch (error) {
      place.textContent = `The request could not be sent: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
}
