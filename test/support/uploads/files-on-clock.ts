import type { HeadObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import type { Clock } from "../../../lib/clock.ts";

/** Makes S3 say that files were written at the time of the test's clock: the engine has the machine's. */
export const keepFilesOnClock = (s3: S3Client, clock: Clock): void => {
  const written = new Map<string, Date>();
  s3.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const { Key = "" } = request.input as { Key?: string };
        const response = await next(request);
        if (commandName === "PutObjectCommand") written.set(Key, new Date(clock()));
        const at = written.get(Key);
        if (commandName !== "HeadObjectCommand" || at === undefined) return response;
        return { ...response, output: { ...(response.output as HeadObjectCommandOutput), LastModified: at } };
      },
    { step: "initialize", name: "keepFilesOnClock" },
  );
};
