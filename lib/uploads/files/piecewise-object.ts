import {
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { RuntimeWith } from "../../aws/runtime.ts";

/** Size of all pieces of a multipart upload except the last: S3's minimum. */
const PIECE_BYTES = 5 * 1024 * 1024;

/** An object that is written from its first byte to its last. */
export interface PiecewiseObject {
  /** Adds a copy of bytes. If a piece is full, returns a promise to await before the next call. */
  readonly append: (bytes: Buffer) => Promise<void> | undefined;
  /** Writes the object. Without this call there is no object, and the bucket's lifecycle rule deletes the pieces. */
  readonly end: () => Promise<void>;
}

/**
 * Starts an object of unknown size. Its pieces are sent from one buffer, one after the other. With a buffer for each, as in
 * lib-storage, some ten megabytes would wait for garbage collection.
 */
export function beginPiecewiseObject(
  { s3, environment }: RuntimeWith<"uploads">,
  key: string,
  contentType: string,
): PiecewiseObject {
  const object = { Bucket: environment.UPLOADS_BUCKET, Key: key };
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  const parts: CompletedPart[] = [];
  let filled = 0;
  let upload: string | undefined;

  const send = async (): Promise<void> => {
    // S3 refuses checksums of parts, which the SDK sends, if the upload was created without their algorithm.
    const begin = { ...object, ContentType: contentType, ChecksumAlgorithm: "CRC32" } as const;
    upload ??= (await s3.send(new CreateMultipartUploadCommand(begin))).UploadId;
    const PartNumber = parts.length + 1;
    const Body = piece.subarray(0, filled);
    const part = { ...object, UploadId: upload, PartNumber, Body, ChecksumAlgorithm: "CRC32" } as const;
    const { ETag, ChecksumCRC32 } = await s3.send(new UploadPartCommand(part));
    parts.push({ PartNumber, ETag, ChecksumCRC32 });
    filled = 0;
  };

  /** Fills one piece after the other. */
  const appendAndSend = async (bytes: Buffer): Promise<void> => {
    for (let start = 0; start < bytes.length;) {
      const copied = bytes.copy(piece, filled, start);
      start += copied;
      filled += copied;
      if (filled === PIECE_BYTES) await send();
    }
  };

  return {
    append: (bytes) => {
      if (filled + bytes.length >= PIECE_BYTES) return appendAndSend(bytes);
      filled += bytes.copy(piece, filled);
      return undefined;
    },
    end: async () => {
      if (upload === undefined) {
        const Body = piece.subarray(0, filled);
        await s3.send(new PutObjectCommand({ ...object, ContentType: contentType, Body }));
        return;
      }
      if (filled > 0) await send();
      const complete = { ...object, UploadId: upload, MultipartUpload: { Parts: parts } };
      await s3.send(new CompleteMultipartUploadCommand(complete));
    },
  };
}
