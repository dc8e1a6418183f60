import { randomUUID } from "node:crypto";
import { CreateBucketCommand, GetObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createPresignedPost, type PresignedPostOptions } from "@aws-sdk/s3-presigned-post";
import { s3Cors } from "../../../../infra/local/s3/cors.ts";
import { s3Notifications } from "../../../../infra/local/s3/notification.ts";
import { startS3Proxy } from "../../../../infra/local/s3/proxy.ts";
import { ResolvedTemplate } from "../../../../infra/local/template.ts";

/** Those of the account that the proxy knows. */
export const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };
const engineEndpoint = process.env["AWS_ENDPOINT_URL_S3"] ?? "";

/** A template of one bucket, with a queue for its source files. */
const createTemplate = () =>
  new ResolvedTemplate({
    stackName: `proxy-${randomUUID()}`,
    region: "us-east-1",
    sqsEndpoint: engineEndpoint,
    template: {
      Resources: {
        Api: { Type: "AWS::ApiGateway::RestApi" },
        Q: { Type: "AWS::SQS::Queue" },
        B: {
          Type: "AWS::S3::Bucket",
          Properties: {
            CorsConfiguration: {
              CorsRules: [
                {
                  AllowedMethods: ["POST", "GET"],
                  AllowedHeaders: ["*"],
                  AllowedOrigins: [
                    { "Fn::Join": ["", ["https://", { Ref: "Api" }, ".execute-api.us-east-1.amazonaws.com"]] },
                  ],
                  MaxAge: 3600,
                },
              ],
            },
            NotificationConfiguration: {
              QueueConfigurations: [
                {
                  Event: "s3:ObjectCreated:*",
                  Queue: { "Fn::GetAtt": ["Q", "Arn"] },
                  Filter: {
                    S3Key: {
                      Rules: [
                        { Name: "prefix", Value: "uploads/" },
                        { Name: "suffix", Value: "source.csv" },
                      ],
                    },
                  },
                },
              ],
            },
          },
        },
      },
    },
  });

/** A form to be signed and posted. */
export interface Form {
  readonly options?: Partial<PresignedPostOptions>;
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly file?: Blob | null;
  readonly headers?: Record<string, string>;
}

/** Starts the proxy with a bucket and a queue of its own. */
export async function startBucket() {
  const template = createTemplate();
  const Bucket = template.physicalName("B");
  const QueueName = template.physicalName("Q");
  const engine = new S3Client({ endpoint: engineEndpoint, forcePathStyle: true });
  const sqs = new SQSClient({});
  await engine.send(new CreateBucketCommand({ Bucket }));
  await sqs.send(new CreateQueueCommand({ QueueName }));
  const time = { now: Date.now() };
  const proxy = await startS3Proxy({
    engineEndpoint,
    s3: engine,
    signer: CREDENTIALS,
    clock: () => time.now,
    allowOrigin: s3Cors(template, () => ["http://localhost:3000"]),
    notify: s3Notifications(template, { s3: engine, sqs, sqsEndpoint: engineEndpoint }),
  });
  const { endpoint } = proxy;
  const s3 = new S3Client({ endpoint, forcePathStyle: true, credentials: CREDENTIALS });
  return {
    Bucket,
    QueueUrl: `${engineEndpoint}/000000000000/${QueueName}`,
    /** Clients of the engine behind the proxy, of the proxy, and of the queues. */
    engine,
    s3,
    sqs,
    endpoint,
    /** The proxy's time, in milliseconds. */
    time,
    stop: () => proxy.stop(),
    bytesOf: async (Key: string): Promise<Buffer> => {
      const { Body } = await engine.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    exists: (Key: string): Promise<boolean> =>
      engine.send(new HeadObjectCommand({ Bucket, Key })).then(
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
/** A bucket behind the proxy. */
export type TestBucket = Awaited<ReturnType<typeof startBucket>>;

export const keyOf = (name: string = randomUUID()): string => `uploads/acme/${name}/source.csv`;

/** Status and error code of a response of S3. */
export const refusalOf = async (response: Response): Promise<[number, string | undefined]> => [
  response.status,
  /<Code>(.*)<\/Code>/.exec(await response.text())?.[1],
];
