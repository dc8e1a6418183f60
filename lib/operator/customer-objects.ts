import { DeleteObjectsCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { StoreBusyError } from "../errors.ts";
import { resources } from "../resources.ts";
import type { RuntimeWith } from "../aws/runtime.ts";

/** What reading and removing an organization's objects requires of a runtime. */
export type ObjectsRuntime = Pick<RuntimeWith<"uploads">, "s3" | "environment">;

/** The keys of all objects of an organization, a page of up to 1,000 at a time. */
export async function* objectsOf({ s3, environment }: ObjectsRuntime, organization: string): AsyncGenerator<string[]> {
  const prefix = `${resources.uploads.prefix}${organization}/`;
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client: s3 },
    { Bucket: environment.UPLOADS_BUCKET, Prefix: prefix },
  )) {
    if (Contents.length > 0) yield Contents.flatMap(({ Key: key }) => key ?? []);
  }
}

/** Deletes up to 1,000 objects. @throws StoreBusyError if S3 refuses one */
export async function deleteObjects({ s3, environment }: ObjectsRuntime, keys: readonly string[]): Promise<void> {
  const { Errors: errors = [] } = await s3.send(
    new DeleteObjectsCommand({
      Bucket: environment.UPLOADS_BUCKET,
      Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true },
    }),
  );
  if (errors.length > 0) throw new StoreBusyError(`S3 refuses to delete ${errors.length} objects: ${errors[0]?.Code}`);
}
