import { randomUUID } from "node:crypto";
import { GetObjectCommand, HeadObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { openBuckets } from "../../../../apps/local/engines/provision.ts";
import { createTestRuntime } from "../../../support/runtime.ts";

/** A form to be signed and posted. */
export interface Form {
  readonly options?: Partial<PresignedPostOptions>;
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly file?: Blob | null;
  readonly headers?: Record<string, string>;
}

/** Makes a bucket that pages of `http://localhost:3000` may use, and the queue of its source files. */
export async function openBucket() {
  const { s3, sqs, environment } = await createTestRuntime();
  const { UPLOADS_BUCKET: Bucket, SPLIT_QUEUE_URL: QueueUrl } = environment;
  await openBuckets(environment as never, ["http://localhost:3000"]);
  return {
    Bucket,
    QueueUrl,
    s3,
    sqs,
    endpoint: process.env["AWS_ENDPOINT_URL_S3"] ?? "",
    bytesOf: async (Key: string): Promise<Buffer> => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    exists: (Key: string): Promise<boolean> =>
      s3.send(new HeadObjectCommand({ Bucket, Key })).then(
        () => true,
        () => false,
      ),
    linkTo: (Key: string): Promise<string> =>
      getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn: 900 }),
    post: async (Key: string, { options, fields = {}, file = new Blob(["a,b\n"]), headers = {} }: Form = {}) => {
      const signed = await createPresignedPost(s3, { Bucket, Key, Expires: 900, ...options });
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...signed.fields, ...fields })) {
        if (value !== undefined) form.append(name, value);
      }
      if (file !== null) form.append("file", file, "people.csv");
      return fetch(signed.url, { method: "POST", body: form, headers });
    },
  };
}
/** A bucket of the suite's engine. */
export type TestBucket = Awaited<ReturnType<typeof openBucket>>;

export const keyOf = (name: string = randomUUID()): string => `uploads/acme/${name}/source.csv`;

/** Status and error code of a response of S3. */
export const refusalOf = async (response: Response): Promise<[number, string | undefined]> => [
  response.status,
  /<Code>(.*)<\/Code>/.exec(await response.text())?.[1],
];
