import * as fc from "fast-check";
import { randomFrom } from "../../../infra/local/aws-terms/random.ts";
import { createProofService } from "../proof-service.ts";
import { createFaultyCalls } from "./faulty-calls.ts";
import type { Finding, FindingKind } from "./findings.ts";
import { itemCalls, runItemCalls } from "./item-calls.ts";
import { runOtherCalls } from "./other-calls.ts";
import { runUploadCalls } from "./upload-calls.ts";

/** What a run has done. */
export interface FaultsRun {
  readonly faults: number;
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
      await runItemCalls(service, await service.createOrganization(), faulty, calls, report);
      await runOtherCalls(service, await service.createOrganization(), faulty, random, report);
      await runUploadCalls(service, await service.createOrganization(), faulty, seed, report);
      faults += faulty.count();
      seeds += 1;
      onSeed({ faults, seeds, findings });
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return { faults, seeds, findings };
};
