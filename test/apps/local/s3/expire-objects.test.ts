import { PutObjectCommand } from "@aws-sdk/client-s3";
import { expect, test } from "vitest";
import { expireObjects } from "../../../../apps/local/s3/expire-objects.ts";
import { openBucket } from "./bucket.ts";

const DAY_MS = 86_400_000;

test("uploads and lists end after 35 days, those of trials after one", async () => {
  const { s3, Bucket, exists } = await openBucket();
  const now = Date.now();
  const [file, list, trial] = [
    "uploads/acme/job/source.csv",
    "uploads/acme/job/results.csv",
    "uploads/.trials/acme/job/r",
  ];
  for (const Key of [file, list, trial]) await s3.send(new PutObjectCommand({ Bucket, Key, Body: "a\n" }));
  const left = async (days: number): Promise<boolean[]> => {
    await expireObjects(s3, Bucket, now + days * DAY_MS);
    return Promise.all([file, list, trial].map(exists));
  };
  expect(await left(0.9)).toEqual([true, true, true]);
  expect(await left(1.1)).toEqual([true, true, false]);
  expect(await left(34.9)).toEqual([true, true, false]);
  expect(await left(35.1)).toEqual([false, false, false]);
});
