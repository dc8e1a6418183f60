import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROJECT_ROOT } from "../../infra/build.ts";
import { runScript } from "./run-script.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

test("a test that hangs, and the file of one that blocks its worker, are named while they run", async () => {
  const directory = temporaryDirectory();
  const files = {
    "vitest.config.ts": `import { namingRunningTests } from ${JSON.stringify(join(PROJECT_ROOT, "test/support/running-tests.ts"))};
      export default { test: { globals: true, testTimeout: 1500, reporters: [namingRunningTests(300)] } };`,
    "hangs.test.ts": `test("waits forever", () => new Promise(() => {})); test("ends", () => {});`,
    "blocks.test.ts": `test("counts forever", () => { for (const start = Date.now(); Date.now() - start < 1500; ); });`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const { out } = await runScript("node_modules/vitest/vitest.mjs", ["run", "--root", directory]);
  const named = [...out.matchAll(/^running for \d+ s: (.*)$/gm)].map(([, name]) => name);
  expect(named).toEqual(
    expect.arrayContaining(["hangs.test.ts > waits forever", expect.stringMatching(/^blocks\.test\.ts/)]),
  );
});
