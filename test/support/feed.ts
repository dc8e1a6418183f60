import { expect } from "vitest";
import type { Change } from "../../lib/changes/change.ts";
import { createCustomer, type Customer } from "./customer-data.ts";
import type { ApiRequest } from "./organization.ts";
import type { TestRuntime } from "./runtime.ts";
import { createDelivery } from "./stream.ts";

/** A page of the feed. */
export interface FeedPage {
  readonly data: readonly Change[];
  readonly meta: { readonly page: { readonly next: string; readonly limit: number; readonly more: boolean } };
}

/** Requests a page of the feed, which must be one. */
export async function feedPage({ send }: Pick<Customer, "send">, query: ApiRequest["query"] = {}): Promise<FeedPage> {
  const { status, text } = await send("listWorkItemChanges", { query });
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as FeedPage;
}

/** Requests all pages from a cursor on. @returns their records, and the cursor after the last */
export async function readFeed(customer: Customer, query: Record<string, string | number> = {}) {
  const records: Change[] = [];
  for (let after = query["after"]; ;) {
    const { data, meta } = await feedPage(customer, { ...query, ...(after !== undefined && { after }) });
    records.push(...data);
    const { next, more } = meta.page;
    if (!more) return { records, cursor: next };
    expect(next).not.toBe(after);
    after = next;
  }
}

/** One organization on new tables, whose writes get into the feed when they are delivered. */
export async function createFeedCustomer(runtime: TestRuntime) {
  const customer = await createCustomer(runtime);
  const deliver = await createDelivery(runtime);
  const status = (query: ApiRequest["query"]) => customer.send("listWorkItemChanges", { query: query ?? {} });
  return { ...customer, deliver, status };
}
