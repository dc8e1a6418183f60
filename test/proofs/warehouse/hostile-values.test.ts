import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../../apps/client/client.ts";
import { type Copy, differencesOf, openCopies } from "./copies.ts";
import { HOSTILE_ITEMS, REFUSED_ATTRIBUTES } from "./hostile-values.ts";
import { startTestService, type TestService } from "../../support/local-service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { feedIsComplete, itemsToCopy, sendAsText } from "./items-to-copy.ts";

const directory = temporaryDirectory(afterAll);
let stack: TestService;
let copies: readonly Copy[];
beforeAll(async () => {
  stack = await startTestService();
  copies = openCopies({ ...stack, directory });
  for (const { name, lacks } of copies) {
    if (lacks !== undefined) console.warn(`SKIPPED: the guide's copy by ${name}. It needs ${lacks}`);
  }
});
afterAll(() => stack?.stop());

describe("copies that the guide's recipes keep", () => {
  it("have every digit and text that the service accepts, in a first load and in an increment", async () => {
    const client = createClient(stack);
    const runnable = copies.filter(({ lacks }) => lacks === undefined);
    expect(runnable.map(({ name }) => name)).toEqual(expect.arrayContaining(["DuckDB", "TypeScript"]));
    for (const attributes of REFUSED_ATTRIBUTES) {
      const { status } = await sendAsText(stack, [{ externalId: "refused", type: "refused", attributes }]);
      expect([attributes, status]).toEqual([attributes, 422]);
    }
    for (const change of ["created", "restored"]) {
      const answer = await (await sendAsText(stack, HOSTILE_ITEMS)).json();
      expect(answer).toMatchObject({
        data: { summary: { total: HOSTILE_ITEMS.length, [change]: HOSTILE_ITEMS.length } },
      });
      await feedIsComplete(client);
      const expected = await itemsToCopy(client);
      expect(expected.size).toBeGreaterThan(HOSTILE_ITEMS.length);
      const found: Record<string, string[]> = {};
      for (const copy of runnable) {
        found[copy.name] = await copy.run().then(
          async () => differencesOf(await copy.read(), expected),
          (error: unknown) => [String(error)],
        );
      }
      expect(found).toEqual(Object.fromEntries(runnable.map(({ name }) => [name, []])));
      for (const id of expected.keys()) await client.workItems.delete(id);
    }
  });
});
