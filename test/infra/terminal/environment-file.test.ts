import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEnvironmentFile, writeEnvironmentFile } from "../../../infra/terminal/environment-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a file of variables is replaced as a whole, so that its readers never find half of it", () => {
  const directory = temporaryDirectory();
  const file = join(directory, "env");
  writeFileSync(`${file}.new`, "HALF=", { mode: 0o644 });
  writeEnvironmentFile(file, { API_KEY: "first" });
  const reader = openSync(file, "r");
  writeEnvironmentFile(file, { API_KEY: "second", MORE: "yes" });
  expect(readFileSync(reader, "utf8")).toBe("API_KEY=first\n");
  closeSync(reader);
  expect(readEnvironmentFile(file)).toEqual({ API_KEY: "second", MORE: "yes" });
  expect(readdirSync(directory)).toEqual(["env"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
