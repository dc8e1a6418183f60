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

/** URL of a bucket: its own origin on AWS, elsewhere with its name as the path. */
export const bucketUrlOf = (address: BucketAddress): URL =>
  new URL(endpointOf(address) === undefined ? "" : address.UPLOADS_BUCKET, bucketOriginOf(address));

/** URL of an object. */
export const objectUrlOf = (address: BucketAddress, key: string): URL => {
  const { origin, pathname } = bucketUrlOf(address);
  return new URL(`${pathname.replace(/\/$/, "")}/${key}`, origin);
};
