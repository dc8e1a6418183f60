import { expect, test } from "vitest";
import { deployCommand } from "../../../../apps/operator/commands/deploy.ts";
import { pauseCommand, resumeCommand } from "../../../../apps/operator/commands/pause.ts";
import { regionInTemplate, startDeployedRegion } from "../../../support/deployed-region.ts";

const { rules, sources, reserved, longestSeconds } = regionInTemplate;
const allOf = (names: readonly string[], state: string) => new Map(names.map((name) => [name, state]));
const nameOf = (name: string) => `WorkItems-us-${name}`;

/** The region, and its commands. */
const start = async () => {
  const { terminal, printed, ...region } = await startDeployedRegion();
  const run = (command: typeof pauseCommand, ...args: readonly string[]) =>
    command(Object.assign(terminal, { args, exitCode: 0 }));
  const states = () => new Map([...region.sources].map(([uuid, { State: state }]) => [uuid, state]));
  return { ...region, terminal, printed, run, states };
};

test("pause stops what starts functions, waits until runs have ended, then stops what writes, and waits for calls", async () => {
  const { terminal, printed, run, states, ...region } = await start();
  const { sleep } = terminal;
  const waits: { seconds: number; isOff: boolean; stopped: number }[] = [];
  terminal.sleep = (milliseconds) => {
    waits.push({
      seconds: Math.ceil(milliseconds / 1000),
      isOff: states()
        .values()
        .every((state) => state === "Disabled"),
      stopped: region.concurrency.size,
    });
    return sleep(milliseconds);
  };
  expect(await run(pauseCommand, "us")).toBe(0);
  const writers = region.concurrency.size;
  expect(waits.map(({ isOff, stopped }) => [isOff, stopped])).toEqual([
    [true, 0],
    [true, 0],
    [true, writers],
  ]);
  const [, forRuns = 0, forCalls] = waits.map(({ seconds }) => seconds);
  expect(forRuns).toBeGreaterThan(longestSeconds - 60);
  expect(forCalls).toBe(120);
  expect(region.rules).toEqual(allOf(rules, "DISABLED"));
  expect(states()).toEqual(allOf(sources, "Disabled"));
  expect(new Set(region.concurrency.values())).toEqual(new Set([0]));
  for (const name of ["apply-upload-chunk", "create-work-item", "record-qa-score", "sweep-uploads", "update-webhook"])
    expect(region.concurrency.get(nameOf(name))).toBe(0);
  for (const name of ["get-work-item", "list-work-items", "get-health", "get-page"])
    expect(region.concurrency.has(nameOf(name))).toBe(false);
  expect(printed.stdout).toMatch(
    / paused\. .* keeps records for 24 hours: by \S+Z, npm run resume -- us --stage dev\n$/,
  );
});

test("pause doesn't wait again for runs that have ended since event sources were off", async () => {
  const { terminal, run } = await start();
  await run(pauseCommand, "us");
  const again = terminal.clock();
  await run(pauseCommand, "us");
  expect(terminal.clock() - again).toBeLessThan(longestSeconds * 1000);
});

test("resume sets what the template says", async () => {
  const { run, states, ...region } = await start();
  await run(pauseCommand, "us");
  expect(await run(resumeCommand, "us")).toBe(0);
  expect(region.rules).toEqual(allOf(rules, "ENABLED"));
  expect(states()).toEqual(allOf(sources, "Enabled"));
  const inTemplate = [...reserved].filter(([name, number]) => number !== undefined && region.concurrency.has(name));
  expect(region.concurrency).toEqual(new Map(inTemplate));
  expect(region.concurrency.get(nameOf("create-work-item"))).toBe(50);
});

test("deploy refuses while something is stopped, unless that is wanted", async () => {
  const { run, printed, ...region } = await start();
  const deploy = async (...args: readonly string[]) => {
    printed.stderr = "";
    return [await run(deployCommand, "us", ...args), printed.stderr];
  };
  const stopsLater = [1, expect.stringMatching(/ has 10 concurrent executions /)];
  expect(await deploy()).toEqual(stopsLater);
  await run(pauseCommand, "us");
  const refused = [
    1,
    expect.stringMatching(/^WorkItems-us: it is paused .* first npm run resume -- us, or add --drop pause\n$/),
  ];
  expect(await deploy()).toEqual(refused);
  expect(await deploy("--drop", "pause")).toEqual(stopsLater);
  await run(resumeCommand, "us");
  region.concurrency.set(nameOf("create-work-item"), 0);
  expect(await deploy()).toEqual(refused);
});
