import { hash, randomUUID } from "node:crypto";
import { contentHash } from "../../content-hash.ts";
import { InvalidInputError, type ProblemCode } from "../../errors.ts";
import { idempotentUploadJobId } from "../../identity.ts";
import { type Mapping, mappingPath } from "../mapping/mapping.ts";
import { mappingOf, type NewUpload } from "./upload-record.ts";
import type { UploadStore } from "./upload-store.ts";

/** Longer file names are cut: they are only labels. */
const FILE_NAME_MAX_CHARACTERS = 1024;

/** What a request says of a file. */
export interface UploadRequest {
  readonly filename: string;
  /** In bytes. */
  readonly size: number;
  /** Undefined if the file is to be posted by a form. */
  readonly content: Buffer | undefined;
  readonly mapping: Mapping | undefined;
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
  /** Id and name of the API key. */
  readonly keyId: string;
  readonly keyName: string;
  readonly requestId: string;
}

/** Hash of everything that a repeated request must share with the first. */
function hashOf({ filename, size, content, mapping, dryRun }: UploadRequest): string {
  const file = content === undefined ? { filename, size } : hash("sha256", content);
  return contentHash({ file, mapping, dryRun });
}

/** The job of a request. Requests of an organization with the same `Idempotency-Key` have the same job. */
export function newUploadOf(organization: string, request: UploadRequest): NewUpload {
  const { filename, size, content, mapping, dryRun, idempotencyKey, keyId, keyName, requestId } = request;
  return {
    id: idempotencyKey === undefined ? randomUUID() : idempotentUploadJobId(organization, idempotencyKey),
    origin: content === undefined ? "form" : "request",
    expected_size: size,
    key_id: keyId,
    key_name: keyName,
    request_id: requestId,
    ...(filename !== "" && { file_name: filename.slice(0, FILE_NAME_MAX_CHARACTERS).toWellFormed() }),
    ...(dryRun && { dry_run: true }),
    ...(mapping && { mapping: JSON.stringify(mapping) }),
    ...(idempotencyKey !== undefined && { content_hash: hashOf(request) }),
  };
}

/**
 * Makes the function that finds the mapping of a request: its own, or that of the job it names.
 * @throws InvalidInputError if the other job does not exist or has none
 */
export function createFindMapping(store: UploadStore) {
  return async (organization: string, mapping: Mapping | undefined): Promise<Mapping | undefined> => {
    if (mapping?.from === undefined) return mapping;
    const refuse = (code: ProblemCode, message: string): never => {
      throw new InvalidInputError([mappingPath({ path: ["from"], code, message })]);
    };
    const given = Object.values(mapping).filter((value) => value !== undefined);
    if (given.length > 1) refuse("invalid_value", "can't be combined with other keys");
    const job = await store.readJob({ organization, id: mapping.from });
    if (!job) return refuse("unknown", "there is no upload with this ID");
    return mappingOf(job) ?? refuse("invalid_value", "this upload has no mapping");
  };
}
