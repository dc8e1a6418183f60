import { DeleteObjectsCommand, paginateListObjectsV2, type S3Client } from "@aws-sdk/client-s3";
import { OBJECTS_KEPT } from "@work-items/lib/uploads/job/kept-until.ts";

const DAY_MS = 86_400_000;

/**
 * Deletes the objects whose time is over, which S3 does by the lifecycle rules of the deployed bucket.
 * @param now milliseconds since the epoch
 */
export async function expireObjects(s3: S3Client, Bucket: string, now: number): Promise<void> {
  for (const { prefix, days } of OBJECTS_KEPT) {
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket, Prefix: prefix })) {
      const expired = Contents.filter(
        ({ LastModified }) => LastModified && now - LastModified.getTime() > days * DAY_MS,
      );
      if (expired.length === 0) continue;
      const Objects = expired.map(({ Key }) => ({ Key }));
      await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
    }
  }
}
