import { RetentionDays } from "aws-cdk-lib/aws-logs";

const everyRetention = Object.values(RetentionDays).filter((each) => typeof each === "number");

/** CloudWatch's name for a number of days. @throws Error if it keeps logs for no such time */
export function logRetentionOf(days: number): RetentionDays {
  const found = everyRetention.find((each) => each.valueOf() === days);
  if (found === undefined) throw new Error(`CloudWatch does not keep logs for ${days} days`);
  return found;
}
