import { keep, KEPT_KEY, readKept } from "../kept.ts";

/** The texts of a form's fields whose names have a prefix, such as `query:`, without empty ones. */
function textsOf(form: FormData, prefix: string): [string, string][] {
  return [...form].flatMap(([name, value]) =>
    name.startsWith(prefix) && typeof value === "string" && value !== ""
      ? [[name.slice(prefix.length), value] as [string, string]]
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
  for (const [name, value] of textsOf(fields, "query:")) url.searchParams.set(name, value);
  const headers = new Headers(textsOf(fields, "header:"));
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

/** Shows the form of the page's endpoint and sends it. */
export function startSendForm(): void {
  const form = document.querySelector<HTMLFormElement>("form.send");
  const [result, shown] = form?.querySelectorAll<HTMLElement>(".sent > *") ?? [];
  const [headers, body] = shown?.querySelectorAll("pre") ?? [];
  if (!form || !result || !shown || !headers || !body) return;
  const root = new URL(document.querySelector<HTMLInputElement>("#search")!.dataset["root"]!, location.href);
  const key = form.querySelector<HTMLInputElement>("input[name=key]");
  if (key) key.value = readKept(() => sessionStorage, KEPT_KEY) ?? "";
  form.hidden = false;
  const send = async (): Promise<void> => {
    if (key && new FormData(form).has("keep")) keep(() => sessionStorage, KEPT_KEY, key.value.trim());
    result.className = "";
    result.textContent = "Sending…";
    shown.hidden = true;
    const started = performance.now();
    try {
      const response = await fetch(...requestOf(form, root));
      const took = Math.round(performance.now() - started);
      headers.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
      body.textContent = readable(await response.text());
      result.className = response.ok ? "good" : "bad";
      result.textContent = `${response.status} ${response.statusText} in ${took} ms`;
      shown.hidden = false;
    } catch (error) {
      result.textContent = `The request could not be sent: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
}
