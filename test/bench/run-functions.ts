import { fork } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Upload } from "@aws-sdk/lib-storage";
import { MEMORY_MB, nodeOptionsFor } from "../../infra/limits.ts";
import { createS3Client } from "../../lib/aws/s3-client.ts";
import type { Ready } from "./uploads-process.ts";

/** Memory that a large file may need beside a small one. */
export const FLAT_WITHIN_MB = 64;
/** Below the S3 engine's limit of 11 MiB for a body. */
const PIECE_BYTES = 8 * 1024 * 1024;
const PROCESS = fileURLToPath(new URL("uploads-process.ts", import.meta.url));

/**
 * Runs a mode of the functions' process, with the heap limits that the template sets for the workers.
 * @param files lines of the files that it waits for, one after the other
 */
export const runFunctions = async <T>(
  mode: "compare" | "file" | "undo",
  ...files: readonly Iterable<string>[]
): Promise<T> => {
  const execArgv = nodeOptionsFor(MEMORY_MB.computes).split(" ");
  const child = fork(PROCESS, [mode], { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exit = once(child, "exit");
  const ended = new AbortController();
  child.once("exit", () => ended.abort());
  const message = async (): Promise<unknown> => {
    const [received] = (await once(child, "message", { signal: ended.signal })) as [unknown];
    return received;
  };
  for (const lines of files) {
    const { bucket: Bucket, key: Key } = (await message()) as Ready;
    const client = createS3Client({ S3_FORCE_PATH_STYLE: true });
    const params = { Bucket, Key, Body: Readable.from(lines) };
    await new Upload({ client, params, partSize: PIECE_BYTES, queueSize: 1 }).done();
    child.send("go");
  }
  const result = (await message()) as T;
  child.disconnect();
  await exit;
  return result;
};
