import type { Clock } from "../../../lib/clock.ts";
import { itemKeyOf, eventKeyOf, attributesOf, itemIdOf } from "../../../lib/work-items/work-item-record.ts";
import { planApply, planEvent } from "../../../lib/work-items/plan-apply.ts";
import { jobKey } from "../../../lib/uploads/job/upload-store.ts";
import { shardKey } from "../../../lib/uploads/job/shard-store.ts";
import { writeOrigin } from "../../../lib/store/table-origin.ts";
import { attemptOn, versionedBy, withoutNulls } from "../../../lib/store/versioned-record.ts";
import { randomFrom } from "../../support/random.ts";
import type { Code } from "./erasure-code.ts";
import { type Item, keyOf, MemoryTables, type Table } from "./memory-tables.ts";

const ACTIONS = 40;
const MINUTE_MS = 60_000;
const ORGANIZATIONS = ["a", "b"];
const ITEMS = ["x", "y", "z"];
const PERSONS = ["ann@example.com", "bob@example.com"];

type Subject = { readonly item: string } | { readonly person: string } | "all";
/** An erasure that an operator began, as the model knows it. */
interface Erased {
  readonly organization: string;
  readonly subject: Subject;
  readonly began: number;
  /** Absent if the program died. */
  readonly ended?: number;
}
/** The tables of work items and what erasures had begun when they were as they are. */
interface Snapshot {
  readonly at: number;
  readonly table: Table;
}

const copyOf = (table: Table): Table => structuredClone(table);
const isSame = (a: Subject, b: Subject): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What an erasure is about, judged by the record alone. */
const covers = ({ organization, subject }: Erased, { pk, ...record }: Item): boolean => {
  if (pk.split("#")[1] !== organization) return false;
  if (subject === "all") return true;
  if ("person" in subject) return [record["agent_email"], record["actor_email"]].includes(subject.person);
  return pk === itemKeyOf(organization, subject.item).pk;
};

/** When a record came, as its writer said: a shard and an event came no earlier than what they belong to. */
const cameAt = (record: Item, table: Table): number => {
  const parent = [...table.values()].find(({ pk, sk }) => pk === record.pk && (sk === "#ITEM" || sk === "#JOB"));
  const times = [record["created_at"], parent?.["created_at"]].filter((time) => typeof time === "string");
  return parent === undefined ? -Infinity : Math.min(...times.map((time) => Date.parse(time)));
};

/** Plays one history at random. @returns what was wrong in it, and how much it tried */
export async function simulate(seed: number, code: Code) {
  const random = randomFrom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(all: readonly T[]): T => all[below(all.length)]!;
  const wrong: string[] = [];
  const tried = { restores: 0, deaths: 0, erasures: 0 };

  let now = Date.parse("2026-01-01T00:00:00Z");
  const clock: Clock = () => now;
  const memory = new MemoryTables();
  const environmentOf = (region: "us" | "eu", items = `${region}-items`) => ({
    ACCESS_TABLE: `${region}-access`,
    AUDIT_TABLE: `${region}-audit`,
    WORK_ITEMS_TABLE: items,
    REGION_CODE: region,
  });
  const log = { error: () => undefined, warn: () => undefined, info: () => undefined };
  const runtimeOf = (region: "us" | "eu", items?: string) =>
    ({ dynamodb: memory.client, environment: environmentOf(region, items), clock, log }) as never;
  const own = runtimeOf("us");
  const live = (): Table => memory.table("us-items");

  const erasures: Erased[] = [];
  const closed = new Set<string>();
  const snapshots: Snapshot[] = [];
  const keep = (): void => void snapshots.push({ at: now, table: copyOf(live()) });

  /** Runs a program that may die at one of its requests. @returns whether it lived */
  const run = async (program: () => Promise<unknown>, mayDie = 0.4): Promise<boolean> => {
    const death = Promise.withResolvers<"died">();
    memory.onDeath = () => death.resolve("died");
    memory.requestsLeft = random() < mayDie ? below(14) : Infinity;
    const outcome = await Promise.race([program().then(() => "lived" as const), death.promise]);
    memory.requestsLeft = Infinity;
    if (outcome === "died") tried.deaths += 1;
    return outcome === "lived";
  };

  const put = (record: object): void => {
    const item = withoutNulls({ ...record, ...versionedBy(undefined, attemptOn(undefined)) }) as Item;
    live().set(keyOf(item), item);
  };
  const isoOf = (time: number): string => new Date(time).toISOString();
  const putItem = (organization: string, name: string, createdAt: number): void => {
    const input = { external_id: name, agent_email: pick([...PERSONS, null]) } as never;
    const plan = planApply(null, name, input, isoOf(createdAt));
    const key = itemKeyOf(organization, name);
    if (plan.outcome === "error") throw new Error(plan.outcome);
    const listed = { id: organization, listingShards: 1, listingWriteShards: 1 } as never;
    put({ ...key, ...attributesOf(listed, itemIdOf(key), plan.next) });
  };
  const putEvent = (organization: string, name: string): void => {
    const external = `e${below(3)}`;
    const key = eventKeyOf(organization, itemIdOf(itemKeyOf(organization, name)), external);
    const { next } = planEvent(null, [{ external_id: external, actor_email: pick([...PERSONS, null]) }], isoOf(now));
    if (!live().has(keyOf(key as Item))) put({ ...key, ...next });
  };

  /** Requests by which a program changes the tables, one after the other. */
  const send = (name: string, input: object) =>
    memory.client.send(Object.assign(Object.create({ constructor: { name } }), { input }) as never);
  const erasePersonIn = async (person: string, organization: string): Promise<void> => {
    for (const record of live().values().toArray()) {
      if (!covers({ organization, subject: { person }, began: 0 }, record)) continue;
      const { agent_email: _, actor_email: __, ...left } = record;
      await send("PutCommand", { TableName: "us-items", Item: left });
    }
  };
  const eraseAllOf = async (organization: string): Promise<void> => {
    for (const { pk, sk } of live().values().toArray()) {
      if (pk.split("#")[1] === organization) await send("DeleteCommand", { TableName: "us-items", Key: { pk, sk } });
    }
  };
  const itemIn = (organization: string, name: string) => ({
    item: itemIdOf(itemKeyOf(organization, name)),
    erase: (dryRun = false) =>
      code.eraseItem(own, organization, name, {
        dryRun,
        sleep: async () => {
          if (random() < 0.3) putEvent(organization, name);
          now += 30_000;
        },
      }),
  });

  /** The end of an erasure: its own, or that of the next one that ended. */
  const endOf = (erased: Erased): number | undefined =>
    erased.ended ??
    erasures
      .filter(
        ({ organization, subject }) =>
          organization === erased.organization && (subject === "all" || isSame(subject, erased.subject)),
      )
      .flatMap(({ began, ended }) => (began >= erased.began && ended !== undefined ? [ended] : []))
      .toSorted((a, b) => a - b)[0];

  /** Erases as the commands do. */
  const erase = async (organization: string, subject: Subject): Promise<void> => {
    const open = erasures.filter((each) => endOf(each) === undefined && each.organization === organization);
    const isAgain = open.some((each) => isSame(each.subject, subject));
    const began = now;
    let isUnknown = false;
    /** Whether it began: until then, a command that dies leaves nothing. */
    let isBegun = false;
    /** Whether nothing was left, although the organization's own record may be. */
    let isFinished = false;
    const lived = await run(async () => {
      if (subject === "all") {
        return code.keptInLedger(own, organization, {}, async (finish) => {
          isBegun = true;
          closed.add(organization);
          await eraseAllOf(organization);
          await finish();
          isFinished = true;
          await send("DeleteCommand", { TableName: "us-access", Key: { pk: organization, sk: "" } });
        });
      }
      if ("person" in subject) {
        const { person: address } = subject;
        return code.keptInLedger(own, organization, { address }, () => {
          isBegun = true;
          return erasePersonIn(address, organization);
        });
      }
      const { item, erase: eraseIt } = itemIn(organization, subject.item);
      try {
        await eraseIt(true);
      } catch (error) {
        if ((error as Error).name !== "NotFoundError") throw error;
        isUnknown = true;
        return undefined;
      }
      return code.keptInLedger(own, organization, { item }, () => {
        isBegun = true;
        return eraseIt();
      });
    });
    if (isUnknown && isAgain) wrong.push("an interrupted erasure of an item can't be run again");
    if (isUnknown || !isBegun) return;
    tried.erasures += 1;
    now += 1;
    erasures.push({ organization, subject, began, ...((lived || isFinished) && { ended: now }) });
    if (lived && subject === "all") closed.delete(organization);
    now += 1;
  };

  const isDataOf = ({ pk }: Item): boolean => !pk.startsWith("ORIGIN");
  /** Records of a snapshot that must be gone, or without the person, and those that must be as they were. */
  const demandsOn = ({ at, table }: Snapshot) => {
    const gone: Item[] = [];
    const kept: Item[] = [];
    for (const record of [...table.values()].filter(isDataOf)) {
      const about = erasures.filter((each) => covers(each, record));
      // One that was interrupted is about what was there before it, and a person's about all.
      const isOpenOn = (each: Erased): boolean =>
        endOf(each) === undefined &&
        ((typeof each.subject === "object" && "person" in each.subject) || cameAt(record, table) < each.began);
      const isGone = about.some((each) => (each.ended ?? 0) > at || isOpenOn(each));
      const mayBeGone = about.some((each) => (endOf(each) ?? 0) > at || isOpenOn(each));
      if (isGone) gone.push(record);
      else if (!mayBeGone) kept.push(record);
    }
    return { gone, kept };
  };
  const isLeft = (record: Item, table: Table): boolean => {
    const found = table.get(keyOf(record));
    if (found === undefined) return false;
    const persons = erasures.filter(({ subject }) => typeof subject === "object" && "person" in subject);
    const emptied = persons.some((each) => covers(each, record)) && !persons.some((each) => covers(each, found));
    return !emptied;
  };

  /** Restores a table under a name, erases again, and asks. @returns the table */
  const restore = async (snapshot: Snapshot, name: string, region: "us" | "eu"): Promise<Table> => {
    memory.tables.set(name, copyOf(snapshot.table));
    const restored = runtimeOf(region, name);
    const { gone, kept } = demandsOn(snapshot);
    const hasOrigin = [...snapshot.table.keys()].includes("ORIGIN#table\n#ORIGIN");
    if (region === "eu" && hasOrigin) {
      const refused = await code.assertLedgerOf(restored, runtimeOf("eu"), true).then(
        () => false,
        () => true,
      );
      if (!refused) wrong.push("another region's ledger is taken for a table's own");
    }
    await code.assertLedgerOf(restored, own, true);
    const missing = await code.missingErasure(restored, own);
    if (gone.length > 0 && missing === undefined)
      wrong.push(`${name}, which holds what was erased, is taken for clean`);
    const reapply = () =>
      code.reapplyErasures(restored, own, isoOf(snapshot.at), {
        onDamaged: (error: Error) => void wrong.push(String(error)),
      });
    if (!(await run(reapply))) await run(reapply, 0);
    const table = memory.table(name);
    for (const record of gone) if (isLeft(record, table)) wrong.push(`${keyOf(record)} was erased and is back`);
    for (const record of kept) if (!isLeft(record, table)) wrong.push(`${keyOf(record)} came later and is gone`);
    if ((await code.missingErasure(restored, own)) !== undefined) wrong.push(`${name} is still taken for unclean`);
    tried.restores += 1;
    now += 1;
    return table;
  };

  const subjectAt = (): Subject => {
    const chance = random();
    if (chance < 0.55) return { item: pick(ITEMS) };
    return chance < 0.8 ? { person: pick(PERSONS) } : "all";
  };
  const actions: readonly (() => unknown)[] = [
    ...Array.from({ length: 4 }, () => () => {
      const organization = pick(ORGANIZATIONS);
      if (closed.has(organization)) return;
      const name = pick(ITEMS);
      // An import brings an item with its earlier time.
      if (!live().has(keyOf(itemKeyOf(organization, name) as Item)))
        putItem(organization, name, now - below(2) * 30 * MINUTE_MS);
      if (random() < 0.5) putEvent(organization, name);
    }),
    () => {
      const organization = pick(ORGANIZATIONS);
      if (closed.has(organization)) return;
      const job = { organization, id: `job${now}` };
      put({ ...jobKey(job), created_at: isoOf(now) });
      for (const number of [0, 1]) put({ ...shardKey(job, number), number });
    },
    () => writeOrigin(own),
    () => erase(pick(ORGANIZATIONS), subjectAt()),
    () => erase(pick(ORGANIZATIONS), subjectAt()),
    // What was interrupted is run again.
    () => {
      const open = erasures.filter((each) => endOf(each) === undefined);
      return open.length > 0 ? erase(pick(open).organization, pick(open).subject) : undefined;
    },
    // The table Access is restored: an organization whose erasure was interrupted is used again.
    () => closed.clear(),
    () => code.keptInLedger(runtimeOf("eu"), pick(ORGANIZATIONS), {}, () => Promise.resolve()),
    async () => {
      if (snapshots.length === 0) return;
      const snapshot = pick(snapshots);
      const table = await restore(snapshot, "restored", random() < 0.3 ? "eu" : "us");
      // The same backup once more, perhaps after other erasures.
      if (random() < 0.5) await restore(snapshot, "restored", "us");
      else if (random() < 0.2) {
        memory.tables.set("us-items", copyOf(table));
        // As a deployment does, and then the sweep.
        await writeOrigin(own);
      }
    },
  ];
  for (let count = 0; count < ACTIONS; count++) {
    await pick(actions)();
    now += 1 + below(10 * MINUTE_MS);
    keep();
    now += 1;
  }
  return { wrong, ...tried };
}

/** Plays histories one after the other. @returns what went wrong, with the seed, and how much was tried */
export async function playErasures(first: number, seeds: number, code: Code) {
  const all = { wrong: [] as string[], restores: 0, deaths: 0, erasures: 0 };
  for (let seed = first; seed < first + seeds; seed++) {
    const { wrong, restores, deaths, erasures } = await simulate(seed, code);
    all.wrong.push(...wrong.map((each) => `${seed}: ${each}`));
    all.restores += restores;
    all.deaths += deaths;
    all.erasures += erasures;
  }
  return all;
}
