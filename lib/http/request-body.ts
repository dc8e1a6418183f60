import type { APIGatewayProxyEvent } from "aws-lambda";
import { WorkItemsError } from "../errors.ts";
import { type MediaType, parseMediaType } from "./media-type.ts";
import type { UploadedFile } from "./multipart.ts";

/** Lambda takes 6 MB of request, which is 4.5 MB before base64. */
export const BODY_MAX_BYTES = 4 * 1024 * 1024;

/** The request body is larger than 4 MiB. */
export class BodyTooLargeError extends WorkItemsError {}
/** The request body is of a type that the route does not take. */
export class UnsupportedMediaTypeError extends WorkItemsError {}
/** The request body is not what its content type says. */
export class MalformedBodyError extends WorkItemsError {}

/** The body as the gateway hands it over. */
export type RawBody = Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded">;
export type Headers = Readonly<Record<string, string | undefined>>;

/** What a request body holds: JSON for the route's schema, or a file. */
export type RequestBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "file"; readonly file: UploadedFile };

/** @throws BodyTooLargeError, UnsupportedMediaTypeError, MalformedBodyError, InvalidInputError, in this order */
export type ReadBody = (raw: RawBody, headers: Headers) => Promise<RequestBody>;

/** @param advice what to do instead, at the end of the message. @throws BodyTooLargeError */
export const assertSize = ({ body, isBase64Encoded }: RawBody, advice = ""): void => {
  if (Buffer.byteLength(body ?? "", isBase64Encoded ? "base64" : "utf8") <= BODY_MAX_BYTES) return;
  throw new BodyTooLargeError(`the request body must be at most ${BODY_MAX_BYTES} bytes${advice}`);
};

const isUtf8 = (charset: string | undefined): boolean => charset === undefined || /^utf-?8$/i.test(charset);

/** The media type of the body. @throws UnsupportedMediaTypeError where it is none of those accepted */
export const acceptedType = (accepted: readonly string[], headers: Headers): MediaType => {
  const mediaType = parseMediaType(headers["content-type"]);
  if (mediaType === undefined || !accepted.includes(mediaType.type)) {
    throw new UnsupportedMediaTypeError(`Content-Type must be ${accepted.join(" or ")}`);
  }
  if (mediaType.type === "application/json" && !isUtf8(mediaType.parameters.get("charset"))) {
    throw new UnsupportedMediaTypeError("the charset of the body must be utf-8");
  }
  if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    throw new UnsupportedMediaTypeError("the body must not be compressed (Content-Encoding)");
  }
  return mediaType;
};
