import * as fc from "fast-check";
import { createProofService } from "../proof-service.ts";
import { allCommands, createTenants } from "./commands.ts";

/** Sequences that run at the same time, since they mostly wait for the engine. Each has a service of its own. */
const LANES = 8;
const COMMANDS_MAX = 30;

/** Runs random sequences of calls against the service and the model. @throws Error with the shortest one that differs */
export const runSequences = async (count: number, seed: number): Promise<{ sequences: number; commands: number }> => {
  let sequences = 0;
  let commands = 0;
  const runLane = async (lane: number): Promise<void> => {
    const service = await createProofService();
    await fc.assert(
      fc.asyncProperty(fc.commands(allCommands, { maxCommands: COMMANDS_MAX, size: "max" }), async (sequence) => {
        const model = await createTenants(service);
        sequences += 1;
        commands += [...sequence].length;
        await fc.asyncModelRun(() => ({ model, real: service }), sequence);
      }),
      { numRuns: Math.ceil(count / LANES), seed: seed + lane },
    );
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
  return { sequences, commands };
};
