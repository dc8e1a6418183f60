import * as fc from "fast-check";
import { randomFrom } from "../../support/random.ts";
import { createProofService } from "../proof-service.ts";
import { createFaultyCalls } from "./faulty-calls.ts";
import type { Finding, FindingKind } from "./findings.ts";
import { itemCalls, runItemCalls } from "./item-calls.ts";
import { runOtherCalls } from "./other-calls.ts";
import { runUploadCalls } from "./upload-calls.ts";

/** What a run has done. */
export interface FaultsRun {
  readonly faults: number;
  /** Those of the faults that are responses which are not what the service's protocol says. */
  readonly damaged: number;
  readonly seeds: number;
  readonly findings: readonly Finding[];
}

/**
 * Calls every endpoint, worker and internal function with faults in their requests.
 * @param limits the run ends when both are reached
 * @param lanes seeds at the same time, since they mostly wait
 * @param onSeed called after each seed with what was done so far
 */
export const runFaults = async (
  limits: Pick<FaultsRun, "faults" | "seeds">,
  firstSeed: number,
  lanes: number,
  onSeed: (run: FaultsRun) => void = () => undefined,
): Promise<FaultsRun> => {
  const findings: Finding[] = [];
  let faults = 0;
  let damaged = 0;
  let seeds = 0;
  let begun = 0;

  const runLane = async (): Promise<void> => {
    const service = await createProofService();
    while (begun < limits.seeds || faults < limits.faults) {
      const seed = firstSeed + begun++;
      const random = randomFrom(seed);
      const faulty = createFaultyCalls(service, randomFrom(seed ^ 0x5eed));
      const report = (kind: FindingKind, details: unknown): void => {
        findings.push({ kind, seed, details: JSON.stringify(details) });
      };
      const [calls = []] = fc.sample(itemCalls, { numRuns: 1, seed });
      const parts = [
        async () => runItemCalls(service, await service.createOrganization(), faulty, calls, report),
        async () => runOtherCalls(service, await service.createOrganization(), faulty, random, report),
        async () => runUploadCalls(service, await service.createOrganization(), faulty, seed, report),
      ];
      for (const part of parts) {
        await part().catch((error: unknown) =>
          report("lost", { thrown: error instanceof Error ? error.stack : error }),
        );
      }
      const count = faulty.count();
      faults += count.faults;
      damaged += count.damaged;
      seeds += 1;
      onSeed({ faults, damaged, seeds, findings });
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return { faults, damaged, seeds, findings };
};
