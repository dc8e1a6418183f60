import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { Marked, type Tokens } from "marked";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MarkdownDocument, readGuides } from "../../../apps/pages/docs/documents.ts";
import { type Language, LANGUAGES } from "../../../apps/pages/docs/languages.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** The code of a guide in one language: all its blocks one after the other. */
const codeOf = ({ markdown }: Pick<MarkdownDocument, "markdown">, language: Language): string =>
  new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Code => token.type === "code" && token["lang"] === language)
    .map(({ text }) => text)
    .join("\n");

/** The programs that run the code of each language, and the name that it must have. */
const PROGRAMS = {
  bash: { command: "bash", args: ["-euo", "pipefail"], file: "guide.sh", check: ["curl", "--version"] },
  ts: { command: process.execPath, args: [], file: "guide.mts", check: [process.execPath, "--version"] },
  python: { command: "python3", args: [], file: "guide.py", check: ["python3", "-c", "import requests"] },
} as const satisfies Record<Language, object>;

const isMissing = ([command, ...args]: readonly [string, ...string[]]): boolean =>
  spawnSync(command, args).status !== 0;
const missing = new Set(
  (Object.keys(PROGRAMS) as Language[]).filter((language) => isMissing(PROGRAMS[language].check)),
);
for (const language of missing)
  console.warn(`SKIPPED: the guides' ${LANGUAGES[language]} code. Its program is not installed.`);

/** The guides for programs. */
const guides = readGuides().filter((guide) => codeOf(guide, "bash") !== "");
const runs = guides.flatMap((guide) =>
  (Object.keys(PROGRAMS) as Language[]).map((language) => [guide.name, LANGUAGES[language], guide, language] as const),
);

/** What the output of each guide must hold. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  "first-call": /created [0-9a-f-]{36}[^]*completed/,
  "nightly-sync": /created\W+\d+/,
  files: /completed[^]*Ticket ID,Status,Resolved,Team,_row,_error[^]*someday[^]*posted as job [0-9a-f-]{36}/,
  "errors-and-retries": /201[^]*201[^]*\/work_items\/1\/agent_email\W+(code\W+)?invalid_format/,
  keys: /with the key: 200[^]*with another: 401/,
  "keep-a-copy": /continue after \d{16}/,
  "undo-an-import":
    /deleted_rows[^]*_row,external_id,id,outcome,kept[^]*-undo-2,[0-9a-f-]{36},(deleted|unchanged),[^]*undo [0-9a-f-]{36}/,
  "get-notified": /^(tested: \{"data":\{"status":null|verified webhook.test \{\}\ntested: 204)/,
};

/** Guides that send thousands of items run once, and so does the code of all languages but one: it takes time. */
const LONG = new Set(["nightly-sync", "keep-a-copy"]);
const TWICE: Language = "ts";

/** Makes a copy of "Keep a copy" with an item that is no longer there, whose cursor is too old. */
const makeOldCopy = (directory: string): void => {
  writeFileSync(join(directory, "pages.jsonl"), '{"data":[{"id":"gone"}]}\n');
  writeFileSync(join(directory, "cursor"), "1");
  const db = new DatabaseSync(join(directory, "copy.db"));
  db.exec("CREATE TABLE items (id TEXT PRIMARY KEY, item TEXT); CREATE TABLE cursor (cursor TEXT)");
  db.exec("INSERT INTO items VALUES ('gone', '{\"id\":\"gone\"}'); INSERT INTO cursor VALUES ('1')");
  db.close();
};

/** What such a copy holds, a JSON text for each page or item. */
const readCopy = (directory: string, language: Language): string[] => {
  if (language === "bash") return readFileSync(join(directory, "pages.jsonl"), "utf8").trim().split("\n");
  const db = new DatabaseSync(join(directory, "copy.db"));
  const items = db.prepare("SELECT item FROM items").all();
  db.close();
  return items.map(({ item }) => String(item));
};

let stack: TestService;
beforeAll(async () => {
  stack = await startTestService();
});
afterAll(() => stack?.stop());

/**
 * Starts a service that is busy for its first two requests, and asks for a second of patience. All others
 * reach the one at `baseUrl`.
 */
const startBusyService = async (baseUrl: string) => {
  const requestedAt: number[] = [];
  const server = createServer((message, response) => {
    const count = requestedAt.push(performance.now());
    if (count <= 2) {
      response.writeHead(503, { "content-type": "application/json", "retry-after": "1" }).end('{"error":"busy"}');
      return;
    }
    const headers = { authorization: message.headers.authorization ?? "" };
    void fetch(baseUrl + message.url, { headers }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
      () => response.destroy(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, requestedAt, stop: () => server.close() };
};

describe("the guides", () => {
  test.each(runs.filter(([, , , language]) => !missing.has(language)))(
    "%s runs as it is in %s, and again",
    async (name, _, guide, language) => {
      const { command, args, file } = PROGRAMS[language];
      const directory = temporaryDirectory();
      const busy = name === "keep-a-copy" ? await startBusyService(stack.baseUrl) : undefined;
      try {
        if (busy !== undefined) makeOldCopy(directory);
        // One language sends all of the 5,000 tickets, the others the first 500, so that the suite takes less time.
        const code = codeOf(guide, language);
        writeFileSync(join(directory, file), language === "ts" ? code : code.replaceAll(/\b500([01])\b/g, "50$1"));
        for (let times = language === TWICE && !LONG.has(name) ? 2 : 1; times > 0; times -= 1) {
          const { stdout, stderr } = await promisify(execFile)(command, [...args, file], {
            cwd: directory,
            env: {
              ...childEnvironment(),
              BASE_URL: busy?.baseUrl ?? stack.baseUrl,
              API_KEY: stack.apiKey,
              NODE_NO_WARNINGS: "1",
            },
          });
          expect(stdout).toMatch(EXPECTED[name]!);
          expect(stdout).not.toContain("\uFEFF");
          // curl says why it repeats a request.
          expect(stderr.replaceAll(/^curl: \(22\) .* 503$/gm, "").trim()).toBe("");
        }
        if (busy === undefined) return;
        // It waited as it was told to, both times, started over, and stored whole pages only.
        const [first = 0, second = 0, third = 0] = busy.requestedAt;
        expect(Math.min(second - first, third - second)).toBeGreaterThan(990);
        const stored = readCopy(directory, language);
        expect(stored.length).toBeGreaterThan(0);
        expect(stored.join("\n")).not.toContain('"gone"');
        for (const text of stored) expect(() => JSON.parse(text)).not.toThrow();
      } finally {
        busy?.stop();
      }
    },
  );

  test("sync 5,000 tickets, all of which are there but the deleted one", async () => {
    for (const number of [1, 2, 2500, 5000]) {
      const response = await fetch(`${stack.baseUrl}/v1/work_items?external_id=ts-ticket-${number}`, {
        headers: { authorization: `Bearer ${stack.apiKey}` },
      });
      const { data } = (await response.json()) as { data: { type: string }[] };
      const ticket = { type: "ticket", custom_attributes: { source: "desk" } };
      expect(data).toMatchObject(number === 1 ? [] : [ticket]);
    }
  });
});
