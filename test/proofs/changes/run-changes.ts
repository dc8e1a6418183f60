import type { Copy } from "./copy.ts";
import { createScene } from "./scene.ts";

/** What a run has done, and what it has found. */
export interface ChangesRun {
  /** Writes that were tried. */
  readonly changes: number;
  readonly faults: number;
  readonly seeds: number;
  readonly findings: readonly Finding[];
}

/**
 * `missed`: the table holds an item that a copy lacks;
 * `wrong`: a copy holds an item that the table doesn't, or the feed broke one of its rules;
 * `differences`: an item is another in the copy.
 */
interface Finding {
  readonly kind: "missed" | "wrong" | "differences";
  readonly seed: number;
  readonly details: string;
}

const STEPS = 60;

/** The line that ends a run. */
export function summaryOf({ changes, faults, seeds, findings }: ChangesRun): string {
  const count = (kind: Finding["kind"]): string => `${kind} ${findings.filter((each) => each.kind === kind).length}`;
  return `changes ${changes}, faults ${faults}, seeds ${seeds}, ${count("missed")}, ${count("wrong")}, ${count("differences")}`;
}

function* compare(seed: number, reader: Copy, table: ReadonlyMap<string, string>): Generator<Finding> {
  const name = JSON.stringify(reader.query());
  for (const details of reader.wrong) yield { kind: "wrong", seed, details };
  for (const [id, text] of table) {
    const copied = reader.items().get(id);
    if (copied === undefined) yield { kind: "missed", seed, details: `${name}: ${id}` };
    else if (copied !== text) yield { kind: "differences", seed, details: `${name}: ${copied} is ${text}` };
  }
  for (const id of reader.items().keys()) {
    if (!table.has(id)) yield { kind: "wrong", seed, details: `${name}: ${id} is not in the table` };
  }
}

/**
 * Writes, logs and reads changes with faults, and compares the copies of all readers with the table.
 * @param limits the run ends when both are reached
 * @param lanes seeds at the same time, since they mostly wait
 * @param onSeed called after each seed with what was done so far
 */
export async function runChanges(
  limits: Pick<ChangesRun, "faults" | "seeds">,
  firstSeed: number,
  lanes: number,
  onSeed: (run: ChangesRun) => void = () => undefined,
): Promise<ChangesRun> {
  const findings: Finding[] = [];
  let [changes, faults, seeds, begun] = [0, 0, 0, 0];

  const runSeed = async (seed: number): Promise<void> => {
    const scene = await createScene(seed);
    try {
      for (let step = 0; step < STEPS; step++) await scene.step();
      const { plain, withEvents } = await scene.finish();
      for (const reader of scene.readers) {
        findings.push(...compare(seed, reader, "include" in reader.query() ? withEvents : plain));
      }
    } catch (error) {
      findings.push({ kind: "wrong", seed, details: error instanceof Error ? String(error.stack) : String(error) });
    }
    changes += scene.changes();
    faults += scene.faults();
    seeds += 1;
  };
  const runLane = async (): Promise<void> => {
    while (begun < limits.seeds || faults < limits.faults) {
      await runSeed(firstSeed + begun++);
      onSeed({ changes, faults, seeds, findings });
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return { changes, faults, seeds, findings };
}
