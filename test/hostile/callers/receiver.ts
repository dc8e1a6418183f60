import type { WebhookMessage } from "../../../lib/webhooks/endpoint-state.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import type { Webhooks } from "../world/webhooks.ts";
import type { Customer } from "../world/service.ts";
import { NO_RESPONSE, type World } from "../world/world.ts";
import { createCopy } from "./copy.ts";
import type { createFeedReaders } from "./feed-readers.ts";
import type { Scene } from "./item-caller.ts";

const MINUTE_MS = 60_000;
const READS_AFTER_MS = 5000;
const CHANGES_EVERY_MS = 1000;
/** A failing endpoint is called after an hour at the latest. */
const WAITS_MAX = 100;
const PAGES_MAX = 3000;
/**
 * So often its owner tests it soon after a message, has it called again, or enables it, which calls it at once if it fails.
 */
const TESTED_SHARE = 0.2;
const RESENT_SHARE = 0.05;
const ENABLED_SHARE = 0.1;
const OWNER_AFTER_MS = 20_000;

interface ListedJob {
  readonly id: string;
  readonly status: string;
}
const isEnded = ({ status }: ListedJob): boolean => status !== "pending" && status !== "processing";

/**
 * A receiver that reads the feed, and lists uploads, only when it is called: once all rests, its copy must be what the table
 * holds, and it must know of every upload that has ended.
 */
export function createReceiver(
  { world, service, oracle, webhooks }: Scene & { readonly world: World; readonly webhooks: Webhooks },
  customer: Customer,
  { read, compare }: Pick<ReturnType<typeof createFeedReaders>, "read" | "compare">,
) {
  const url = `https://${customer.organization.id}.example.com/hook`;
  const copy = createCopy({ limit: 100 });
  const told = new Set<string>();
  const now = { isNotified: false, isToList: false, isReading: false };
  let calledAt = -Infinity;
  let id = "";

  /** Makes a call at which nothing goes wrong, again if an instance whose clock was ahead has used up the limit. */
  const call = async (name: RouteName, request: ApiRequest): Promise<unknown> => {
    for (let attempts = 1; ; attempts++) {
      const response = await service.call(customer, name, request, { isCalm: true });
      if (response === NO_RESPONSE) throw new Error(`a calm call of ${name} has no response`);
      if (response.status < 300) return response.body.data;
      if (response.status !== 429 || attempts > WAITS_MAX) {
        throw new Error(`a calm call of ${name} got ${response.status}: ${response.text}`);
      }
      await world.sleep(Number(response.headers["retry-after"]) * 1000);
    }
  };
  const jobs = async () => (await call("listWorkItemUploads", { query: { limit: 100 } })) as readonly ListedJob[];
  const readAll = async (): Promise<void> => {
    now.isReading = true;
    for (let page = 0; (now.isNotified || now.isToList || !copy.isAtEnd()) && page < PAGES_MAX; page++) {
      if (now.isToList) {
        now.isToList = false;
        // While its organization is erased and made again, its calls fail.
        const listed = await jobs().catch(() => undefined);
        for (const job of listed?.filter(isEnded) ?? []) told.add(job.id);
        if (listed === undefined) {
          now.isToList = true;
          await world.sleep(MINUTE_MS);
        }
      }
      now.isNotified = false;
      // Its own calls are answered: what a killed call leaves is the matter of other readers.
      await read(copy, true);
      if (!copy.isAtEnd()) await world.sleep(world.below(READS_AFTER_MS));
    }
    now.isReading = false;
  };
  const update = () => call("updateWebhook", { params: { id }, body: { webhook: { enabled: true } } });
  const look = async (): Promise<void> => {
    if (world.random() < TESTED_SHARE) await webhooks.test({ organization: customer.organization.id, id });
    // While its organization is erased and made again, its calls fail. A webhook that is being called isn't called again.
    if (world.random() < RESENT_SHARE) await call("resendWebhook", { params: { id } }).catch(() => undefined);
    if (world.random() < ENABLED_SHARE) await update().catch(() => undefined);
  };
  const take = ({ type, data }: WebhookMessage): void => {
    if (!webhooks.isOver) world.at(world.clock() + world.below(OWNER_AFTER_MS), () => void look());
    if (type === "upload.ended") told.add((data as ListedJob).id);
    if (type === "uploads.ended") now.isToList = true;
    if (type === "work_items.changed") {
      if (world.clock() - calledAt < CHANGES_EVERY_MS)
        oracle.report("wrong", "a webhook was called twice within a second");
      calledAt = world.clock();
      now.isNotified = true;
    }
    if (now.isReading || !(now.isNotified || now.isToList)) return;
    now.isReading = true;
    world.at(world.clock() + world.below(READS_AFTER_MS), () => void readAll());
  };
  const webhook = async (): Promise<string> => ((await call("getWebhook", { params: { id } })) as ListedJob).status;

  return {
    /** Adds its webhook, at the beginning and after the organization was made again. */
    begin: async (): Promise<void> => {
      webhooks.listen(url, take);
      if (id !== "") copy.begin();
      ({ id } = (await call("createWebhook", { body: { webhook: { url } } })) as { id: string });
    },
    /** Waits until nothing is due any more. Its owner enables it again if it has failed for days. */
    rest: async (): Promise<void> => {
      await world.sleep(2 * MINUTE_MS);
      if ((await webhook()) === "disabled") {
        await update();
      }
      for (let waits = 0; waits < 8 || now.isReading || (await webhook()) !== "active"; waits++) {
        if (waits > WAITS_MAX) return oracle.report("missed", `the webhook of ${url} doesn't come to rest`);
        await webhooks.sweep();
        await world.sleep(waits < 4 ? MINUTE_MS : 15 * MINUTE_MS);
      }
      const tested = await webhooks.test({ organization: customer.organization.id, id }, { isCalm: true });
      if (tested?.status !== 204) oracle.report("wrong", { "a test at rest": tested });
    },
    /** Compares what it has without reading any more. */
    finish: async (right: ReadonlyMap<string, string>): Promise<void> => {
      compare(copy, right);
      const missed = (await jobs()).filter((job) => isEnded(job) && !told.has(job.id));
      if (missed.length > 0) oracle.report("missed", { "ended uploads that were not told": missed });
    },
  };
}
