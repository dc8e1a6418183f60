import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";

/** The context of an invocation. @param milliseconds remaining time when the function starts, by the clock */
export const lambdaContext = (milliseconds = 29_000, clock: () => number = Date.now): Context => {
  const end = clock() + milliseconds;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: "test",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:us-east-1:123456789012:function:test",
    memoryLimitInMB: "512",
    awsRequestId: randomUUID(),
    logGroupName: "test",
    logStreamName: "test",
    getRemainingTimeInMillis: () => end - clock(),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
};
