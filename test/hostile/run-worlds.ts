import type { Finding } from "./oracle/oracle.ts";
import { runKilled } from "./process/run-killed.ts";
import { runWorld, type SeedRun, type Story } from "./run-world.ts";
import type { Hostility } from "./world/hostilities.ts";
import { takeOverTime } from "./world/world.ts";

/** What the worlds of many seeds have done, and found. */
export interface WorldsRun {
  seeds: number;
  readonly hostilities: Map<string, number>;
  /** Writes that were answered. */
  acknowledged: number;
  /** Items that were not followed to the end, since too much can have happened to them. */
  unfollowed: number;
  /** Lists of items that were compared with what is known. */
  lists: number;
  readonly findings: Finding[];
}

/** Which worlds are run. */
export interface Worlds {
  readonly firstSeed: number;
  /** Seeds of worlds in this process. */
  readonly seeds: number;
  /** Hostilities instead of those that each seed chooses. */
  readonly only: readonly Hostility[];
  /** What happens in all worlds. @default what each seed chooses */
  readonly story?: Story | undefined;
  /** Seeds of services as processes that are killed. @default 0 */
  readonly killed?: number;
  /** Whether a finding ends the run. @default false */
  readonly endsAtFirst?: boolean;
}

/** Worlds at the same time, since they mostly wait for the engines. */
const LANES = 6;

/**
 * Runs the worlds of one seed after the other.
 * @param onSeed called after each seed with what was done so far
 */
export async function runWorlds(
  worlds: Worlds,
  onSeed: (run: WorldsRun) => void = () => undefined,
): Promise<WorldsRun> {
  const { firstSeed, seeds, only, story, killed = 0, endsAtFirst = false } = worlds;
  const run: WorldsRun = { seeds: 0, hostilities: new Map(), acknowledged: 0, unfollowed: 0, lists: 0, findings: [] };
  const add = ({ hostilities, acknowledged, unfollowed, lists, findings }: SeedRun): void => {
    for (const [name, count] of hostilities) run.hostilities.set(name, (run.hostilities.get(name) ?? 0) + count);
    run.seeds += 1;
    run.acknowledged += acknowledged;
    run.unfollowed += unfollowed;
    run.lists += lists;
    run.findings.push(...findings);
    onSeed(run);
  };
  for (let seed = firstSeed; seed < firstSeed + killed; seed++) add(await runKilled(seed));
  let next = firstSeed;
  const runLane = async (): Promise<void> => {
    while (next < firstSeed + seeds) {
      if (endsAtFirst && run.findings.length > 0) return;
      add(await runWorld(next++, only, story, endsAtFirst));
    }
  };
  const giveBackTime = takeOverTime();
  try {
    await Promise.all(Array.from({ length: endsAtFirst ? 1 : Math.min(LANES, seeds) }, runLane));
  } finally {
    giveBackTime();
  }
  return run;
}

/** The line that ends a run. */
export function summaryOf({ seeds, hostilities, acknowledged, lists, findings }: WorldsRun): string {
  const total = [...hostilities.values()].reduce((sum, each) => sum + each, 0);
  const kinds = (["lost", "doubled", "undone", "wrong", "missed"] as const).map(
    (kind) => `${kind} ${findings.filter((finding) => finding.kind === kind).length}`,
  );
  const done = [`seeds ${seeds}`, `hostilities ${total}`, `acknowledged ${acknowledged}`, `lists ${lists}`];
  return [...done, ...kinds].join(", ");
}
