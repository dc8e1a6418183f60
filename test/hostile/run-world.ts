import { createFeedReaders } from "./callers/feed-readers.ts";
import { createItemCaller, type Scene } from "./callers/item-caller.ts";
import { createOperator } from "./callers/operator.ts";
import { createReader } from "./callers/reader.ts";
import { createReceiver } from "./callers/receiver.ts";
import { createUndoer } from "./callers/undoer.ts";
import { createUploader } from "./callers/uploader.ts";
import { Oracle, type Finding } from "./oracle/oracle.ts";
import { Changes } from "./world/changes.ts";
import type { Hostility } from "./world/hostilities.ts";
import { lagIndexes } from "./world/lagging-index.ts";
import { Queues } from "./world/queues.ts";
import { Service, type Customer } from "./world/service.ts";
import { UploadWorkers } from "./world/upload-workers.ts";
import { Webhooks } from "./world/webhooks.ts";
import { World } from "./world/world.ts";

/** What one seed has done, and found. */
export interface SeedRun {
  readonly hostilities: ReadonlyMap<string, number>;
  readonly acknowledged: number;
  readonly unfollowed: number;
  readonly lists: number;
  readonly findings: readonly Finding[];
}

/** Few, so that calls meet at the same items. */
const NAMES = ["a", "ä#1", "constructor", "d", "e"];
const ITEM_CALLERS = 3;
const MINUTE_MS = 60_000;
/** Time for everything that was frozen or late to come to its end. */
const REST_MS = 20 * MINUTE_MS;
/** More than a shard is held, and gaps are put. */
const CALM_ROUNDS = 16;
const CALM_ROUND_MS = 2 * 60 * MINUTE_MS;

/** The world has found what it was to find, and ends. */
class FoundError extends Error {}

/** Lets callers work until all are done. @throws FoundError */
async function runAll(world: World, work: readonly Promise<unknown>[]): Promise<void> {
  let isOver = false;
  const done = Promise.all(work).finally(() => (isOver = true));
  done.catch(() => undefined);
  await world.run(() => isOver || world.hasFound());
  if (world.hasFound()) throw new FoundError();
  await done;
}

type WholeScene = Scene & {
  readonly world: World;
  readonly service: Service;
  readonly uploads: UploadWorkers;
  readonly changes: Changes;
  readonly webhooks: Webhooks;
};

/** Two organizations upload files, and others change the same items. */
async function importFiles(scene: WholeScene, seed: number): Promise<readonly Customer[]> {
  const { world, service } = scene;
  const customers: Customer[] = [await service.createCustomer(), await service.createCustomer()];
  const readers = customers.map((customer, index) =>
    createReader(scene, customer, customers[1 - index]!, seed * 1000 + 900 + index),
  );
  const feed = createFeedReaders(scene, customers[0]!, [30]);
  const receiver = createReceiver(scene, customers[0]!, feed);
  await runAll(world, [receiver.begin()]);
  let isOver = false;
  const work = customers.flatMap((customer, index) => {
    const names = [...NAMES];
    const own = seed * 1000 + index * 100;
    return [
      ...Array.from({ length: ITEM_CALLERS }, (_, number) =>
        createItemCaller(scene, customer, names, own + number).run(20),
      ),
      readers[index]!.run(10),
      createUploader(scene, customer, names, own + 50).run(1),
    ];
  });
  const following = feed.run(() => isOver);
  await runAll(world, [Promise.all(work).finally(() => (isOver = true)), following]);
  await rest(scene, REST_MS);
  await runAll(world, [receiver.rest()]);
  await readItems(scene, customers);
  await runAll(world, [
    feed.items().then((items) => receiver.finish(items)),
    feed.finish(),
    ...readers.map((reader) => reader.compareLists()),
  ]);
  return customers;
}

/** One organization's operator erases what its callers write, and it is erased itself; copies follow its feed. */
async function eraseAndFollow(scene: WholeScene, seed: number): Promise<void> {
  const { world, service } = scene;
  world.mayOutlive = false;
  const customer = await service.createCustomer("acme");
  const operator = createOperator(scene, customer, seed * 1000 + 500);
  const feed = createFeedReaders(scene, customer, [1, 2]);
  const receiver = createReceiver(scene, customer, feed);
  await runAll(world, [receiver.begin()]);
  const writeAndRead = async (calls: number): Promise<void> => {
    let isOver = false;
    const writers = Array.from({ length: ITEM_CALLERS }, (_, number) =>
      createItemCaller(scene, customer, [...NAMES, "f", "g"], seed * 1000 + number, 6 * MINUTE_MS).run(calls),
    );
    const done = Promise.all(writers).finally(() => (isOver = true));
    await runAll(world, [done, operator.run(() => isOver), feed.run(() => isOver)]);
  };
  await writeAndRead(12);
  if (seed % 4 === 3) {
    let isOver = false;
    const erasing = operator.eraseAndMakeAgain().finally(() => (isOver = true));
    await runAll(world, [erasing, feed.run(() => isOver)]);
    feed.begin();
    await runAll(world, [receiver.begin()]);
  }
  await writeAndRead(12);
  await rest(scene, CALM_ROUNDS * CALM_ROUND_MS);
  await runAll(world, [receiver.rest()]);
  await readItems(scene, [customer]);
  const reader = createReader(scene, customer, customer, seed * 1000 + 900);
  await runAll(world, [feed.items().then((items) => receiver.finish(items)), feed.finish(), reader.compareLists()]);
}

/** Two organizations undo files, and others write to the same items and to more. */
async function undoFiles(scene: WholeScene, seed: number): Promise<void> {
  const { world, service } = scene;
  const customers = [await service.createCustomer(), await service.createCustomer()];
  const undoers = customers.map((customer, index) => createUndoer(scene, customer, seed * 1000 + 700 + index));
  const others = customers.map((customer, index) =>
    createItemCaller(scene, customer, [...NAMES], seed * 1000 + index).run(20),
  );
  await runAll(world, [...undoers.map((undoer) => undoer.run()), ...others]);
  await rest(scene, REST_MS);
  await readItems(scene, customers);
  await runAll(
    world,
    undoers.map((undoer) => undoer.check()),
  );
}

/** Ends what goes wrong, and waits until everything that was late or frozen has come to its end. */
async function rest({ world, uploads, changes, webhooks, oracle }: WholeScene, milliseconds: number): Promise<void> {
  uploads.isOver = true;
  webhooks.isOver = true;
  changes.sweepEveryMs = Infinity;
  world.hostilities.end();
  const rounds = Math.ceil(milliseconds / CALM_ROUND_MS);
  const wait = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      await changes.sweep();
      changes.pullSoon();
      await world.sleep(milliseconds / rounds);
    }
    for (let round = 0; !changes.isEmpty; round++) {
      if (round > 200) return oracle.report("missed", "changes stay on their way");
      changes.pullSoon();
      await world.sleep(MINUTE_MS);
    }
  };
  await runAll(world, [wait()]);
}

/** Reads every item that was named. */
async function readItems(scene: WholeScene, customers: readonly Customer[]): Promise<void> {
  const reading = customers.flatMap((customer) => {
    const reader = createItemCaller(scene, customer, [], 0);
    return [...scene.oracle.itemsOf(customer.organization.id).keys()].map((name) => reader.get(name));
  });
  await runAll(scene.world, reading);
}

/** What happens in the world of a seed. */
const STORIES = { undos: undoFiles, erasures: eraseAndFollow, imports: importFiles } as const;
export type Story = keyof typeof STORIES;
export const ALL_STORIES = Object.keys(STORIES) as Story[];

function storyOf(seed: number): Story {
  if (seed % 5 === 4) return "undos";
  return seed % 3 === 0 ? "erasures" : "imports";
}

/**
 * Runs the world of one seed.
 * @param only hostilities instead of those that the seed chooses
 * @param story instead of the seed's own
 * @param endsAtFirst whether it ends with its first finding
 */
export async function runWorld(
  seed: number,
  only: readonly Hostility[],
  story = storyOf(seed),
  endsAtFirst = false,
): Promise<SeedRun> {
  const world = await World.create(seed, only);
  const oracle = new Oracle(seed, world.clock);
  if (endsAtFirst) world.hasFound = () => oracle.findings.length > 0;
  lagIndexes(world);
  const queues = new Queues(world);
  const changes = await Changes.create(world, queues);
  const [uploads, webhooks] = [new UploadWorkers(world, queues), new Webhooks(world, queues, oracle)];
  const scene = { world, oracle, changes, uploads, webhooks, service: new Service(world) };
  try {
    await STORIES[story](scene, seed);
  } catch (error) {
    if (!(error instanceof FoundError))
      oracle.report("wrong", error instanceof Error ? String(error.stack) : String(error));
  }
  const { acknowledged, unfollowed, lists, findings } = oracle;
  return { hostilities: world.hostilities.counts, acknowledged, unfollowed, lists, findings };
}
