import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take ten seconds and more, much of which is waiting. */
const SLOW = /test\/(proofs\/|infra\/pages\/|infra\/cli\/|infra\/local\/(service|invoke)|lib\/client\/)/;

const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);

/** Starts the slow files first, so that at the end no worker waits for another that has started one of them late. */
export class SlowFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => Number(isSlow(b)) - Number(isSlow(a))));
  }
}
