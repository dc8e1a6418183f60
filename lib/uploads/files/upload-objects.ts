import type { Readable } from "node:stream";
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type PutObjectCommandInput } from "@aws-sdk/client-s3";
import { StoreBusyError } from "../../errors.ts";
import { backOff, retry } from "../../retry.ts";
import { resources } from "../../resources.ts";
import { codeOf, isMissingObject, isPreconditionFailed, isUnavailable } from "../../aws/error-codes.ts";
import { RETRIES } from "../../aws/client-options.ts";
import type { RuntimeWith } from "../../aws/runtime.ts";
import type { JobKey } from "../job/upload-record.ts";
import type { SourceFile } from "../job/upload-store.ts";

/** The object doesn't exist: it was never written, or it was deleted. */
export class ObjectGoneError extends Error {
  override readonly name: string = "ObjectGoneError";
}
/** Another object has been written with the same key. */
export class ObjectReplacedError extends Error {
  override readonly name: string = "ObjectReplacedError";
}

/** Retries of an interrupted read, which continues at the same byte. The count restarts with every received chunk. */
const READ_RETRIES = 4;
/** Retries of a write during another write of the same object. The SDK doesn't retry it. */
const WRITING_ONCE = { attempts: RETRIES.maxAttempts, message: "another request is writing the file; try again" };

const { prefix, shortLived } = resources.uploads;
const SOURCE_KEY = new RegExp(`^${prefix}(?<organization>[^/]+)/(?<id>[^/]+)/source\\.csv$`);

/**
 * Change this whenever the same file gives different chunks, so that workers of two versions don't mix theirs. A published job
 * names the layout of its chunks, because an undo reads them weeks later.
 */
export const CHUNK_LAYOUT = 1;

function prefixOf({ organization, id }: JobKey): string {
  return `${prefix}${organization}/${id}`;
}

/** A job, and whether it is a trial, whose lists are kept for a shorter time. */
type ListedJob = JobKey & { readonly dry_run?: boolean | undefined };
function listPrefixOf({ dry_run: isTrial = false, organization, id }: ListedJob): string {
  return `${isTrial ? shortLived.prefix : prefix}${organization}/${id}`;
}

/** The prefixes of the keys of all objects of an organization. @param job only those of this one, by its id */
export function prefixesOf(organization: string, job?: string): string[] {
  return [prefix, shortLived.prefix].map((start) => `${start}${organization}/${job === undefined ? "" : `${job}/`}`);
}

/** Keys of the objects of one job. */
export const objectKeys = {
  source: (job: JobKey): string => `${prefixOf(job)}/source.csv`,
  chunk: (job: JobKey & { readonly layout: number }, shard: number, number: number): string =>
    `${prefixOf(job)}/chunks/${job.layout}/${shard}-${number}`,
  /** The lines that a claim of a shard adds to one of the job's lists. */
  lines: (job: ListedJob, list: "failed_rows" | "results", shard: number, claim: number): string =>
    `${listPrefixOf(job)}/${list}/${shard}-${claim}`,
  /** A list of the job's rows. @param merged random id of the run that merged it */
  list: (job: ListedJob, list: "failed_rows" | "results", merged: string): string =>
    `${listPrefixOf(job)}/${list}/${merged}.csv`,
};

/** The job of a source file; null if the key belongs to another object. */
export function jobOfSource(key: string): JobKey | null {
  const { organization, id } = SOURCE_KEY.exec(key)?.groups ?? {};
  return organization === undefined || id === undefined ? null : { organization, id };
}

/** A byte range of an object. */
export interface ObjectRange {
  /** First byte. @default 0 */
  readonly from?: number;
  /** The byte after the last. @default the object's end */
  readonly to?: number;
  /** ETag that the object must still have. */
  readonly etag?: string;
}

/** The ETag that every response of S3 for an object has. An empty 200 has none: nothing is known of the object then. */
function etagOf(key: string, { ETag }: { readonly ETag?: string | undefined }): string {
  if (ETag === undefined) throw new StoreBusyError(`S3 did not answer for ${key}`);
  return ETag;
}

/** Reads and writes the objects of upload jobs in the bucket. */
export function createUploadObjects({ s3, environment }: RuntimeWith<"uploads">) {
  const bucket = environment.UPLOADS_BUCKET;

  const open = async (key: string, from: number, to: number | undefined, etag: string | undefined) => {
    try {
      const opened = await s3.send(
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ...((from > 0 || to !== undefined) && { Range: `bytes=${from}-${to === undefined ? "" : to - 1}` }),
          ...(etag !== undefined && { IfMatch: etag }),
        }),
      );
      etagOf(key, opened);
      const { Body, ContentLength = 0 } = opened;
      return { body: Body as Readable, end: to ?? from + ContentLength };
    } catch (error) {
      if (isMissingObject(error, "GET")) throw new ObjectGoneError(key, { cause: error });
      if (isPreconditionFailed(error)) throw new ObjectReplacedError(key, { cause: error });
      throw error;
    }
  };

  const put = async (object: Omit<PutObjectCommandInput, "Bucket"> & { readonly Key: string }): Promise<string> =>
    etagOf(object.Key, await s3.send(new PutObjectCommand({ Bucket: bucket, ...object })));

  /** Streams a range. An interrupted stream is opened again at the same byte. */
  async function* read(key: string, { from = 0, to, etag }: ObjectRange = {}): AsyncGenerator<Uint8Array> {
    let position = from;
    let end = to;
    for (let failures = 0; end === undefined || position < end;) {
      try {
        const opened = await open(key, position, to, etag);
        ({ end } = opened);
        for await (const chunk of opened.body) {
          const bytes = chunk as Uint8Array;
          position += bytes.length;
          failures = 0;
          yield bytes;
        }
      } catch (error) {
        if (error instanceof ObjectGoneError || error instanceof ObjectReplacedError) throw error;
        // The SDK compares the checksum at the object's end, when wrong bytes have already been passed on.
        const isWhole = end !== undefined && position >= end;
        if (isWhole || failures >= READ_RETRIES) {
          throw isUnavailable(error) ? error : new StoreBusyError(`${key} cannot be read`);
        }
      }
      if (end !== undefined && position >= end) return;
      if (failures >= READ_RETRIES) throw new StoreBusyError(`${key} cannot be read`);
      await backOff(++failures);
    }
  }

  return {
    /**
     * Streams a range of an object.
     * @throws ObjectGoneError, ObjectReplacedError
     */
    read,
    /** Reads a range of an object into one buffer. @throws ObjectGoneError */
    readWhole: async (key: string, range?: ObjectRange): Promise<Buffer> =>
      Buffer.concat(await Array.fromAsync(read(key, range))),
    /** ETag, size and time of writing of an object; null if it does not exist. */
    head: async (key: string): Promise<SourceFile | null> => {
      try {
        const head = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
        const { ContentLength = 0, LastModified = new Date(0) } = head;
        return { etag: etagOf(key, head), size: ContentLength, writtenAt: LastModified };
      } catch (error) {
        if (isMissingObject(error, "HEAD")) return null;
        throw error;
      }
    },
    /** Writes an object, unless its key exists. */
    writeOnce: async (key: string, body: Buffer, contentType: string): Promise<void> => {
      await retry(WRITING_ONCE, async () => {
        try {
          return await put({ Key: key, Body: body, ContentType: contentType, IfNoneMatch: "*" });
        } catch (error) {
          if (isPreconditionFailed(error)) return "exists";
          if (codeOf(error) === "ConditionalRequestConflict") return undefined;
          throw error;
        }
      });
    },
    write: async (key: string, body: Buffer, contentType = "application/octet-stream"): Promise<void> => {
      await put({ Key: key, Body: body, ContentType: contentType });
    },
  };
}

/** The objects of upload jobs. */
export type UploadObjects = ReturnType<typeof createUploadObjects>;
