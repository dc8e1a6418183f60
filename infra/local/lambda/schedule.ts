import { randomUUID } from "node:crypto";
import type { ScheduledEvent } from "aws-lambda";
import type { LambdaFunction } from "./lambda-function.ts";
import { LocalStackError } from "../local-stack-error.ts";
import { ACCOUNT } from "../template.ts";

/** An EventBridge rule that invokes a function at a fixed rate. */
export interface ScheduleRule {
  readonly arn: string;
  readonly region: string;
  /** `rate(<n> minutes|hours|days)`; cron expressions are not supported. */
  readonly expression: string;
}

const UNIT_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** Milliseconds between two runs. @throws LocalStackError for an unsupported expression */
export function intervalOf(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (count === undefined || unit === undefined) {
    throw new LocalStackError(`the schedule ${expression} does not run locally: use rate(…)`);
  }
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

function toEvent({ arn, region }: ScheduleRule): ScheduledEvent<Record<string, never>> {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Scheduled Event",
    source: "aws.events",
    account: ACCOUNT,
    time: new Date().toISOString(),
    region,
    resources: [arn],
    detail: {},
  };
}

/** Runs a function at once and then by its schedule, one run at a time. @returns a function that ends the schedule */
export function startSchedule(rule: ScheduleRule, target: LambdaFunction): () => void {
  let running = false;
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    // An error is in the function's log, and the next run follows anyway.
    await target.invoke(JSON.stringify(toEvent(rule))).catch(() => {});
    // Nobody waits for the next run, and an idle instance takes 15 MB.
    await target.stop();
    running = false;
  };
  const timer = setInterval(() => void run(), intervalOf(rule.expression));
  void run();
  return () => clearInterval(timer);
}
