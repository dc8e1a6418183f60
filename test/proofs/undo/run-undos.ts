import { simulate } from "./undo-model.ts";

/** Runs simulations one after the other. @returns what went wrong, with the seed, and how much was tried */
export function runUndos(first: number, seeds: number) {
  const wrong: string[] = [];
  let [undone, deaths, dropped] = [0, 0, 0];
  for (let seed = first; seed < first + seeds; seed++) {
    const run = simulate(seed);
    wrong.push(...run.wrong.map((each) => `${seed}: ${each}`));
    undone += run.undone;
    deaths += run.deaths;
    dropped += run.dropped;
  }
  return { wrong, undone, deaths, dropped };
}
