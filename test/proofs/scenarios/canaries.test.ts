import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { workItemId } from "../../../lib/identity.ts";
import { startService } from "../../hostile/process/service-process.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const CONTENT = "canary-content-7f3a";
const EMAIL = "canary-mail-9b1c@example.com";
const PERSON = "canary-person-2d4e";
const FORGED_KEY = "wi_us_canarykey5e6fcanarykey5e6fcanarykey5e6f";
const IDEMPOTENCY_KEY = "canary-idempotency-1a2b";

/** What was sent, and where it came to light. */
interface CanarySearch {
  readonly requests: number;
  /** Responses to errors. */
  readonly errors: number;
  readonly logLines: number;
  readonly found: readonly object[];
}

const JOB_ENDS_WITHIN_MS = 150_000;

/** What a text looks like in an address, and in the base64 of something that holds it at any place. */
const formsOf = (text: string): string[] => {
  const encoded = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(before === 0 ? 0 : 4, 4 * Math.floor(bytes.length / 3));
  });
  return [text, encodeURIComponent(text), ...encoded];
};

/** Requests with canaries in everything that can hold them: some are good, others are refused in many ways. */
const requestsFor = (job: string, secret: string): readonly (readonly [string, string, RequestInit])[] => {
  const json = (body: unknown): RequestInit => ({
    headers: { "content-type": "application/json", "idempotency-key": IDEMPOTENCY_KEY },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const item = {
    external_id: "item",
    agent_email: EMAIL,
    agent_name: PERSON,
    agent_external_id: PERSON,
    custom_attributes: { text: CONTENT, [CONTENT]: EMAIL },
    events: [{ external_id: "event", actor_email: EMAIL, actor_name: PERSON, content: CONTENT }],
  };
  const bad = { ...item, status: CONTENT, completed_at: EMAIL, agent_email: PERSON, agent_name: 5, events: CONTENT };
  const path = `/v1/work_items/${workItemId("demo", "item")}`;
  const file = (text: string, type = "text/csv"): RequestInit => {
    const form = new FormData();
    form.append("upload[file]", new Blob([text], { type }), `${CONTENT}.csv`);
    return { body: form };
  };
  const authorized = (authorization: string): RequestInit => ({ headers: { authorization } });
  return [
    ["POST", "/v1/work_items", json({ work_item: item })],
    ["POST", "/v1/work_items", json({ work_item: { ...item, agent_name: "another" } })],
    ["POST", "/v1/work_items", json({ work_item: bad })],
    ["POST", "/v1/work_items", json(`{"work_item":{"external_id":"${CONTENT}`)],
    ["POST", "/v1/work_items/batch", json({ work_items: [item, { ...item, external_id: "second" }] })],
    ["POST", "/v1/work_items/batch", json({ work_items: [item, bad] })],
    ["POST", "/v1/work_items/batch", json({ work_items: [item, bad], on_invalid: "skip" })],
    ["POST", "/v1/work_items/batch", json({ work_items: CONTENT, dry_run: EMAIL })],
    ["PATCH", path, json({ work_item: { agent_email: EMAIL, custom_attributes: { text: CONTENT } } })],
    ["PATCH", path, json({ work_item: { agent_email: CONTENT, completed_at: EMAIL } })],
    [
      "PATCH",
      path,
      {
        ...json({ work_item: { type: CONTENT } }),
        headers: { "content-type": "application/json", "if-match": `"${CONTENT}"` },
      },
    ],
    [
      "POST",
      `${path}/events`,
      json({ event: { external_id: "event", actor_email: EMAIL, content: `${CONTENT} again` } }),
    ],
    ["POST", `${path}/events`, json({ event: { external_id: "event", actor_email: CONTENT, occurred_at: EMAIL } })],
    ["GET", path, {}],
    ["GET", `/v1/work_items?agent_email=${EMAIL}&agent_external_id=${PERSON}`, {}],
    ["GET", `/v1/work_items?status=${CONTENT}&completed_from=${EMAIL}&limit=${PERSON}&cursor=${CONTENT}`, {}],
    ["GET", `/v1/work_items/${CONTENT}`, {}],
    ["GET", `/v1/conversation_uploads?cursor=${CONTENT}`, {}],
    ["GET", "/v1/work_items", authorized(`Bearer ${FORGED_KEY}`)],
    ["GET", "/v1/work_items", authorized(`Bearer ${secret.slice(0, -2)}xx`)],
    ["GET", "/v1/work_items", authorized(`Basic ${secret}`)],
    ["GET", `/v1/nothing?key=${secret}`, {}],
    ["POST", "/v1/work_items", { body: CONTENT, headers: { "content-type": `text/${CONTENT}` } }],
    [
      "POST",
      "/v1/work_items/upload",
      file(
        `external_id,agent_email,custom_attributes.text\nfrom-file,${EMAIL},${CONTENT}\nbad,${CONTENT},${CONTENT}\n`,
      ),
    ],
    ["POST", "/v1/work_items/upload", file(`external_id,agent_email\n"unclosed,${EMAIL}\n${CONTENT}`)],
    ["POST", "/v1/work_items/upload", file(`external_id;agent_email\n${CONTENT};${EMAIL}\n`)],
    ["POST", "/v1/work_items/upload", json({ upload: { filename: CONTENT, size: CONTENT } })],
    ["GET", `/v1/work_items/upload/${job}`, {}],
    ["GET", `/v1/work_items/upload/${job}/failed_rows`, {}],
    ["DELETE", `/v1/work_items/upload/${job}`, {}],
    ["DELETE", path, {}],
  ];
};

/** Everything that the functions have printed: log lines, and metrics, which are log lines too. */
const printedIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(".log") && statSync(join(directory, name)).isFile())
    .flatMap((name) => readFileSync(join(directory, name), "utf8").split("\n"))
    .filter((line) => line !== "");

/**
 * Sends canaries in all inputs to the whole service while requests to its engines fail in many ways, and looks for
 * them in all that its functions print and in the responses to errors.
 */
const searchCanaries = async (seed: number): Promise<CanarySearch> => {
  const directory = temporaryDirectory();
  const service = await startService(directory, seed);
  const canaries = [
    CONTENT,
    EMAIL,
    PERSON,
    FORGED_KEY,
    IDEMPOTENCY_KEY,
    service.apiKey,
    service.apiKey.slice(6, 38),
  ].flatMap(formsOf);
  const found: object[] = [];
  let requests = 0;
  let errors = 0;
  const search = (where: string, text: string): void => {
    for (const canary of canaries) if (text.includes(canary)) found.push({ where, canary, text });
  };
  try {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    let job = "";
    for (const [method, path, init] of requestsFor(job, service.apiKey)) {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method,
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
      });
      const text = await response.text();
      requests += 1;
      if (response.status === 202) job = (JSON.parse(text) as { data: { id: string } }).data.id;
      if (response.status < 400) continue;
      errors += 1;
      search(`${method} ${path.split("?")[0]} ${response.status}`, text);
    }
    for (const until = Date.now() + JOB_ENDS_WITHIN_MS; Date.now() < until; await sleep(500)) {
      const response = await fetch(`${service.baseUrl}/v1/work_items/upload/${job}`, { headers });
      if (/"status":"(completed|failed|cancelled)"/.test(await response.text())) break;
    }
  } finally {
    await service.stop();
  }
  const lines = printedIn(directory);
  for (const line of lines) search("log", line);
  return { requests, errors, logLines: lines.length, found };
};

it("no key, email address or content is in a log line, a metric or a response to an error", async () => {
  const { requests, errors, logLines, found } = await searchCanaries(20_261_121);
  expect(found).toEqual([]);
  expect(requests).toBeGreaterThan(25);
  expect(errors).toBeGreaterThan(10);
  expect(logLines).toBeGreaterThan(requests / 2);
});
