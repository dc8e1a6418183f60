import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { PayloadTooLargeError } from "../../../../infra/local/lambda/lambda-function.ts";
import { intervalOf, startSchedule } from "../../../../infra/local/lambda/schedule.ts";
import { fakeFunction } from "../fake-function.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const start = (handler: () => Promise<void>, stop = async () => {}) => {
  const events: unknown[] = [];
  const rule = { arn: "arn:rule", region: "us-east-1", expression: "rate(1 minute)" };
  const sweep = fakeFunction("sweep", (event) => {
    events.push(event);
    return handler();
  });
  onTestFinished(startSchedule(rule, { ...sweep, stop }));
  return events;
};

test("runs a function at once and then by the template's rate", async () => {
  const events = start(async () => {});
  expect(events).toEqual([
    expect.objectContaining({ source: "aws.events", "detail-type": "Scheduled Event", resources: ["arn:rule"] }),
  ]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(events).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(events).toHaveLength(3);
});

test("ends the function's instance after each run", async () => {
  const stop = vi.fn<() => Promise<void>>(async () => {});
  const events = start(() => new Promise((resolve) => setTimeout(resolve, 10_000)), stop);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(stop).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(62_000);
  expect([events.length, stop.mock.calls.length]).toEqual([2, 2]);
});

test("skips a run while the previous one is still running", async () => {
  const events = start(() => new Promise((resolve) => setTimeout(resolve, 90_000)));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(2);
});

test("runs again after a run that failed", async () => {
  const events = start(() => Promise.reject(new PayloadTooLargeError("no")));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toHaveLength(2);
});

test.each([
  ["rate(1 minute)", 60_000],
  ["rate(5 minutes)", 300_000],
  ["rate(2 hours)", 7_200_000],
  ["rate(1 day)", 86_400_000],
])("knows how long %s is", (expression, milliseconds) => {
  expect(intervalOf(expression)).toBe(milliseconds);
});

test("rejects a schedule that it cannot keep", () => {
  expect(() => intervalOf("cron(0 12 * * ? *)")).toThrow("cron(0 12 * * ? *)");
});
