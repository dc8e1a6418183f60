import { afterAll, expect } from "vitest";

/** What test files have in common, since they share the modules of a worker. */
const readState = () => ({
  // Powertools sets the one variable as it is loaded.
  environment: { ...process.env, AWS_SDK_UA_APP_ID: undefined },
  directory: process.cwd(),
  now: Date.now,
  log: console.log,
  fetch: globalThis.fetch,
});

const before = readState();
afterAll(() => {
  expect(readState(), "a test file must leave the process as it found it").toEqual(before);
});
