import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startTestService } from "../../../support/local-service.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { ITEMS_OF_WEEKS, itemsIn, WEEKS } from "../../../support/two-systems.ts";
import { run } from "./terminal.ts";

it("exports of two systems with the same numbers become the items of both, and a week later the same ones", async () => {
  const folder = temporaryDirectory();
  const stack = await startTestService();
  vi.stubEnv("WORK_ITEMS_URL", stack.baseUrl);
  vi.stubEnv("WORK_ITEMS_KEY", stack.apiKey);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await stack.stop();
  });
  const mapping = join(folder, "mapping.json");
  for (const [week, files] of WEEKS.entries()) {
    for (const [name, bytes] of Object.entries(files)) {
      const file = join(folder, name);
      writeFileSync(file, bytes);
      expect(await run("import", file, "--propose", mapping, "--time-zone", "UTC")).toMatchObject({ exit: 0 });
      const importFile = () => run("import", file, "--mapping", mapping, "--wait", "--yes");
      const { exit, told } = await importFile();
      expect([exit, told.includes("1 row would reopen")]).toEqual(name === "reopened.csv" ? [4, true] : [0, false]);
      writeFileSync(mapping, readFileSync(mapping, "utf8").replace("{", '{ "blank": "clear",'));
      expect(await importFile()).toMatchObject({ exit: 0 });
    }
    expect(await itemsIn(stack)).toEqual(ITEMS_OF_WEEKS[week]);
  }
});
