import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../apps/client/client.ts";
import { startService } from "../hostile/process/service-process.ts";
import { type Copy, differencesOf, openCopies } from "./warehouse/copies.ts";
import { HOSTILE_ITEMS } from "./warehouse/hostile-values.ts";
import { changeItems, createItems, feedIsComplete, itemsToCopy, sendAsText } from "./warehouse/items-to-copy.ts";

/**
 * Runs for `npm run prove -- warehouse`: keeps copies by the recipes of the guide "Keep a copy" that can run here, and
 * compares them with the list of the service.
 */
const ITEMS = Number(process.env["WAREHOUSE_ITEMS"] ?? 100_000);
const INCREMENTS = ["first", "second", "third"];
const KILLED_AFTER_MS = 6000;

const directory = mkdtempSync(join(tmpdir(), "warehouse-"));
const stack = await startService(join(directory, "data"));
const client = createClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKey });

let differences = 0;
async function compare(copy: Copy, after: string): Promise<void> {
  const copied = await copy.read();
  const found = [
    ...differencesOf(copied, await itemsToCopy(client)),
    ...((await copy.untypedColumns?.()) ?? []).map((name) => `the column ${name} hasn't the type of its field`),
  ];
  differences += found.length;
  console.log(`${copy.name}, ${after}: rows ${copied.size}, differences ${found.length}`);
  for (const each of found.slice(0, 5)) console.log(`  ${each.slice(0, 500)}`);
}

async function sendHostileItems(): Promise<void> {
  const response = await sendAsText(stack, HOSTILE_ITEMS);
  const answer = await response.text();
  if (!response.ok || !answer.includes('"error":0')) throw new Error(answer);
}

const copies = openCopies({ ...stack, directory });
const runnable = copies.filter(({ lacks }) => lacks === undefined);
try {
  await createItems(client, "loaded", ITEMS);
  for (const copy of runnable) {
    await sendHostileItems();
    await feedIsComplete(client);
    await copy.run(KILLED_AFTER_MS);
    await copy.run();
    await compare(copy, "first load, once killed");
    for (const name of INCREMENTS) {
      await changeItems(client, `${copy.name}-${name}`);
      await feedIsComplete(client);
      await copy.run(KILLED_AFTER_MS);
      await changeItems(client, `${copy.name}-${name}-later`);
      await sendHostileItems();
      await feedIsComplete(client);
      await copy.run();
      await compare(copy, `${name} increment, once killed`);
    }
  }
} finally {
  await stack.stop();
  rmSync(directory, { recursive: true });
}
for (const { name, lacks } of copies) if (lacks !== undefined) console.log(`skipped: ${name}, which needs ${lacks}`);
const names = runnable.map(({ name }) => name).join(", ");
console.log(
  `copies by ${names}: items ${ITEMS}, increments ${runnable.length * INCREMENTS.length}, differences ${differences}`,
);
process.exitCode = differences === 0 ? 0 : 1;
