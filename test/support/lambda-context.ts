import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";

/** The context of an invocation. @param milliseconds remaining time when the function starts */
export const lambdaContext = (milliseconds = 29_000): Context => {
  const end = Date.now() + milliseconds;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: "test",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:us-east-1:123456789012:function:test",
    memoryLimitInMB: "512",
    awsRequestId: randomUUID(),
    logGroupName: "test",
    logStreamName: "test",
    getRemainingTimeInMillis: () => end - Date.now(),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
};
