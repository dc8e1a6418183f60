import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { chunksOf } from "../../../../lib/retry.ts";
import { readIndexPage } from "../../../../lib/store/lists/index-page.ts";
import { listingSource } from "../../../../lib/store/lists/partition.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

const SHARDS = 4;

describe("reading a sharded index page by page", () => {
  let runtime: Awaited<ReturnType<typeof createTestRuntime>>;
  beforeAll(async () => {
    runtime = await createTestRuntime();
  });

  /** Puts an entry into the shard of each number in `shards`; every 37th has the type `rare`. @returns their sort keys */
  const put = async (organization: string, shards: readonly number[]): Promise<string[]> => {
    const records = shards.map((shard, index) => ({
      pk: `${organization}#${index}`,
      sk: "#",
      type: index % 37 === 0 ? "rare" : "common",
      listing_pk: `LIST_ITEM#${organization}#${shard}`,
      listing_sk: String(index).padStart(5, "0"),
    }));
    for (const chunk of chunksOf(records, 25)) {
      const requests = chunk.map((Item) => ({ PutRequest: { Item } }));
      await runtime.dynamodb.send(
        new BatchWriteCommand({ RequestItems: { [runtime.environment.WORK_ITEMS_TABLE]: requests } }),
      );
    }
    return records.map((record) => record.listing_sk).toReversed();
  };

  const readPages = async (organization: string, limit: number, more: { type?: string; workUnits?: number } = {}) => {
    const { type, ...bounds } = more;
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const page = await readIndexPage({
        ...runtime,
        source: listingSource("LIST_ITEM", { id: organization, listingShards: SHARDS }),
        filters: { type },
        range: { low: "0", high: "~" },
        after,
        limit,
        workUnits: 2048,
        ...bounds,
      });
      pages.push([...page.sortKeys]);
      after = page.next;
    } while (after !== undefined && pages.length < 1000);
    return pages;
  };

  it("gives every entry once and in order however unevenly the shards are filled", async () => {
    let run = 0;
    const skewed = fc.array(fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 3), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(skewed, fc.integer({ min: 1, max: 60 }), async (shards, limit) => {
        const organization = `SKEWED${run++}`;
        const expected = await put(organization, shards);
        const pages = await readPages(organization, limit);
        expect(pages.flat()).toEqual(expected);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      }),
      { numRuns: 15, examples: [[Array<number>(120).fill(0), 50]] },
    );
  });

  it("stops early, even with an empty page, when its work is spent, and loses nothing by it", async () => {
    // One shard holds three quarters of the entries, so that the shards stop at very different sort keys.
    const shards = Array.from({ length: 600 }, (_, index) => (Math.imul(index, 2_654_435_761) >>> 16) % 4 && 1);
    const expected = await put("BOUNDED", shards);
    const rare = expected.filter((sortKey) => Number(sortKey) % 37 === 0);
    const pages = await readPages("BOUNDED", 40, { type: "rare", workUnits: 1 });
    expect(pages.flat()).toEqual(rare);
    expect(pages.slice(0, -1).some((page) => page.length < 40)).toBe(true);
  });
});
