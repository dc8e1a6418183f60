import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Language } from "../../../apps/pages/docs/languages.ts";
import { operations } from "../../../apps/pages/docs/documented-operations.ts";
import { samplesOf } from "../../../apps/pages/docs/samples.ts";
import { childEnvironment } from "../../support/child-environment.ts";
import { randomFrom } from "../../support/random.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const works = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;

/** How the code of each language is run, and what prints the status of a response. */
const PROGRAMS: Readonly<
  Record<Language, { readonly runs: boolean; readonly command: string; readonly file: string }>
> = {
  bash: { runs: works("curl", "--version"), command: "bash", file: "sample.sh" },
  ts: { runs: true, command: process.execPath, file: "sample.mts" },
  python: { runs: works("python3", "-c", "import requests"), command: "python3", file: "sample.py" },
};
for (const [language, { runs }] of Object.entries(PROGRAMS)) {
  if (!runs) console.warn(`SKIPPED: the reference's ${language} code. Its program isn't installed.`);
}

/** Statuses beside success: a job may have ended before it is canceled, and the conversation may not be recorded. */
const OTHER_STATUSES: Readonly<Record<string, number>> = {
  "cancel-work-item-upload": 409,
  "get-conversation-upload": 404,
};
/** Each makes what it needs, so any order will do: `SAMPLES_SEED` repeats one. */
const seed = Number(process.env["SAMPLES_SEED"] ?? Date.now() % 10_000);
const random = randomFrom(seed);
const shuffled = () =>
  operations
    .map((operation) => [random(), operation] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, operation]) => operation);

let stack: TestService;
beforeAll(async () => {
  stack = await startTestService();
});
afterAll(() => stack?.stop());

describe(`the reference's code in the order of SAMPLES_SEED=${seed}`, () => {
  test.each((Object.keys(PROGRAMS) as Language[]).filter((language) => PROGRAMS[language].runs))(
    "in %s calls each endpoint as it is",
    async (language) => {
      const { command, file } = PROGRAMS[language];
      const directory = temporaryDirectory();
      const inOrder = shuffled();
      const statuses: Record<string, number> = {};
      for (const operation of inOrder) {
        const code = samplesOf(operation)
          .find(([each]) => each === language)![1]
          .replaceAll("http://localhost:3000", stack.baseUrl);
        // The last call of curl's code prints the response alone.
        const last = code.lastIndexOf("curl");
        const printing = `${code.slice(0, last)}curl -sS -o /dev/null -w "%{http_code}"${code.slice(last + "curl".length)}`;
        const folder = join(directory, operation.name);
        mkdirSync(folder);
        writeFileSync(join(folder, file), language === "bash" ? printing : code);
        const { stdout } = await promisify(execFile)(command, [file], {
          cwd: folder,
          env: { ...childEnvironment(), API_KEY: stack.apiKey },
        });
        statuses[operation.name] = Number(stdout.slice(0, 3));
      }
      const expected = Object.fromEntries(
        inOrder.map(({ name, responses }) => [
          name,
          expect.toBeOneOf([
            ...Object.keys(responses)
              .map(Number)
              .filter((status) => status < 300),
            OTHER_STATUSES[name],
          ]),
        ]),
      );
      expect(statuses).toEqual(expected);
    },
  );
});
