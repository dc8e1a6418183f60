import { formatUrl } from "@aws-sdk/core/util";
import { S3RequestPresigner } from "@aws-sdk/s3-request-presigner";
import { isoTime } from "../../clock.ts";
import { NotFoundError } from "../../errors.ts";
import { type BucketAddress, objectUrlOf } from "../../runtime/bucket-address.ts";
import type { RuntimeWith } from "../../runtime/runtime.ts";
import type { RowListLink } from "../job/upload-job.ts";
import { isEnded, type JobKey, toUploadJobResponse } from "../job/upload-record.ts";
import { createUploadStore } from "../job/upload-store.ts";
import { ROW_LISTS, type RowListName } from "./row-list.ts";

/** Lifetime of the presigned URL. */
const LINK_SECONDS = 15 * 60;

type ListLinkRuntime = RuntimeWith<"workItems"> & { readonly environment: BucketAddress };

/** Signs URLs of lists. The client of DynamoDB has all that this needs; that of S3 would add 130 KB to the bundle. */
const createSignList = ({ dynamodb, environment }: ListLinkRuntime) => {
  const { region, credentials, sha256 } = dynamodb.config;
  const presigner = new S3RequestPresigner({ region, credentials, sha256 });
  return async (name: RowListName, key: string): Promise<string> => {
    const { protocol, hostname, port, pathname } = objectUrlOf(environment, key);
    const request = {
      method: "GET",
      protocol,
      hostname,
      ...(port !== "" && { port: Number(port) }),
      path: pathname,
      query: {
        "response-content-type": "text/csv; charset=utf-8",
        "response-content-disposition": `attachment; filename="${name}.csv"`,
      },
      headers: {},
    };
    return formatUrl(await presigner.presign(request, { expiresIn: LINK_SECONDS }));
  };
};

/**
 * Makes a URL of one of a job's lists. It is null if the job has not ended, or if the list has no rows.
 * @throws NotFoundError if there is no such job
 */
export const createListLink = (runtime: ListLinkRuntime) => {
  const { clock } = runtime;
  const store = createUploadStore(runtime);
  const sign = createSignList(runtime);
  return async (key: JobKey, name: RowListName): Promise<RowListLink> => {
    const snapshot = await store.read(key);
    if (!snapshot) throw new NotFoundError("work item upload not found");
    const { job } = snapshot;
    const { failed_rows: failed, succeeded_rows: succeeded } = toUploadJobResponse(snapshot);
    const rows = name === "failed_rows" ? failed : failed + succeeded;
    if (rows === 0 || !isEnded(job)) return { url: null, expires_at: null, rows };
    const expiresAt = isoTime(clock() + LINK_SECONDS * 1000);
    return { url: await sign(name, ROW_LISTS[name].key(job)), expires_at: expiresAt, rows };
  };
};
