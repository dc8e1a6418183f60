import type { Environment } from "./environment.ts";

/** The variables that say where objects are. */
type Address = Pick<Environment<object>, "AWS_ENDPOINT_URL" | "AWS_ENDPOINT_URL_S3" | "BUCKET_ORIGIN">;

/** Endpoint of S3 elsewhere than on AWS, as the SDK finds it; undefined on AWS. */
const endpointOf = ({ AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 = AWS_ENDPOINT_URL }: Address) => AWS_ENDPOINT_URL_S3;

/** The origin of the bucket that takes posted files and gives reports. */
export const bucketOriginOf = (address: Address): string => {
  const endpoint = endpointOf(address);
  return endpoint === undefined ? address.BUCKET_ORIGIN : new URL(endpoint).origin;
};

/** The variables that say where the objects of a bucket are. */
export type BucketAddress = Address & { readonly UPLOADS_BUCKET: string };

/** URL of an object: at the bucket's own origin on AWS, elsewhere with the bucket in the path. */
export const objectUrlOf = (address: BucketAddress, key: string): URL => {
  const path = endpointOf(address) === undefined ? key : `${address.UPLOADS_BUCKET}/${key}`;
  return new URL(path, bucketOriginOf(address));
};
