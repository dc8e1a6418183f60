import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { allRoutes } from "../../functions/routes.ts";
import { allWorkers } from "../../functions/workers.ts";

const names = [...allRoutes(), ...allWorkers].map(({ name }) => name);

/** Names of the schemas that are built once all functions are imported. */
const BUILT_BY_IMPORTS = `
  import * as z from "zod";
  for (const name of ${JSON.stringify(names)}) await import("./functions/" + name + ".ts");
  console.log(JSON.stringify([...z.globalRegistry._idmap.keys()]));
`;

it("a function's start builds no schema of bodies, which all functions together have dozens of", () => {
  const built = execFileSync(process.execPath, ["--input-type=module", "-e", BUILT_BY_IMPORTS], { encoding: "utf8" });
  // Records are read by it too.
  expect(JSON.parse(built)).toEqual(["WorkItemStatus"]);
});
