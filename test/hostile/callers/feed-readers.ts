import { createChangeLog } from "../../../lib/changes/segment-store.ts";
import type { Customer } from "../world/service.ts";
import { NO_RESPONSE, type World } from "../world/world.ts";
import { type Copy, createCopy, type Life } from "./copy.ts";
import type { Scene } from "./item-caller.ts";

const PAGES_MAX = 3000;
const MINUTE_MS = 60_000;
/** A first load leaves five minutes for clocks: DynamoDB takes no requests that are signed with a clock that is off by more. */
const CLOCK_MAX_MS = 4 * MINUTE_MS;

/** Readers that keep copies of an organization by its feed: in the end each copy must be what the table holds. @param limits sizes of pages */
export function createFeedReaders(
  { world, service, oracle }: Scene & { readonly world: World },
  customer: Customer,
  limits: readonly number[],
) {
  const log = createChangeLog(world.base);
  const copies: readonly Copy[] = [
    createCopy({ limit: 100 }),
    ...limits.map((limit) => createCopy({ limit })),
    createCopy({ limit: Math.max(3, ...limits), include: "events" }),
    // Of an empty organization: it follows from its first cursor.
    createCopy({ limit: Math.min(100, 5 * Math.max(...limits)) }, String(customer.organization.changesFrom - 1)),
  ];

  const life = async (): Promise<Life> => {
    const { organization } = customer;
    const { segments } = await world.outside(() =>
      log.read(organization.id, { from: organization.changesFrom, limit: 1000 }),
    );
    return {
      at: world.clock(),
      // What is being erased has no log: no answer about its cursors is wrong.
      secret: customer.isErasing ? "" : organization.cursorSecret,
      gaps: segments.filter(({ isGap }) => isGap).length,
    };
  };
  const read = async (copy: Copy, isCalm: boolean): Promise<void> => {
    const query = copy.query();
    const before = await life();
    const options = { isCalm, clockMaxMs: CLOCK_MAX_MS };
    const response = await service.call(customer, "listWorkItemChanges", { query }, options);
    if (response === NO_RESPONSE) return;
    const after = response.status === 410 ? await life() : before;
    const crash = !isCalm && world.random() < 0.1 ? world.below(4) : undefined;
    copy.receive(query.after, response, { before, after }, crash);
  };

  /** What the service's list and single items say. */
  const table = async (withEvents: boolean): Promise<Map<string, string>> => {
    const found = new Map<string, string>();
    for (let cursor: string | undefined; ;) {
      const query = { limit: 100, ...(cursor !== undefined && { cursor }) };
      const page = await service.call(customer, "listWorkItems", { query }, { isCalm: true });
      if (page === NO_RESPONSE || page.status !== 200) throw new Error("the list can't be read");
      const { data, meta } = page.body as { data: { id: string }[]; meta: { page: { next?: string } } };
      for (const listed of data) {
        if (!withEvents) {
          found.set(listed.id, JSON.stringify(listed));
          continue;
        }
        const single = await service.call(customer, "getWorkItem", { params: { id: listed.id } }, { isCalm: true });
        if (single !== NO_RESPONSE) found.set(listed.id, JSON.stringify(single.body.data));
      }
      cursor = meta.page.next;
      if (cursor === undefined) return found;
    }
  };
  const compare = (copy: Copy, right: ReadonlyMap<string, string>): void => {
    const query = copy.query();
    for (const rule of copy.wrong) oracle.report("wrong", { feed: query, rule });
    for (const [id, text] of right) {
      const copied = copy.items().get(id);
      if (copied !== text) oracle.report("missed", { feed: query, copied: copied ?? "nothing", table: text });
    }
    const more = [...copy.items().keys()].filter((id) => !right.has(id));
    if (more.length > 0) oracle.report("missed", { feed: query, "not in the table": more });
  };

  return {
    read,
    compare,
    /** Items that the service's list shows. */
    items: () => table(false),
    /** Its callers have another key, and know that everything they had is gone. */
    begin: (): void => copies.forEach((copy) => copy.begin()),
    run: async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        const copy = world.pick(copies);
        if (world.random() < 0.03) copy.begin();
        await read(copy, false);
        await world.sleep(world.below(MINUTE_MS));
      }
    },
    /** Reads to the end, and compares. */
    finish: async (): Promise<void> => {
      for (const copy of copies) {
        const starts = copy.starts();
        for (let page = 0; ; page++) {
          await read(copy, true);
          if (copy.isAtEnd()) break;
          if (page > PAGES_MAX || copy.starts() > starts + 3) {
            copy.wrong.push("never ends");
            break;
          }
        }
      }
      const plain = await table(false);
      const withEvents = await table(true);
      for (const copy of copies) compare(copy, "include" in copy.query() ? withEvents : plain);
    },
  };
}
