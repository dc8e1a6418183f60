import type { APIGatewayProxyEvent } from "aws-lambda";
import { WorkItemsError } from "../errors.ts";
import { type MediaType, parseMediaType } from "./media-type.ts";
import type { UploadedFile } from "./multipart.ts";

/** Lambda accepts events of 6 MB, which is a body of 4.5 MB before base64. */
export const BODY_MAX_BYTES = 4 * 1024 * 1024;

/** The request body is larger than 4 MiB. */
export class BodyTooLargeError extends WorkItemsError {}
/** The route does not accept the content type of the request body. */
export class UnsupportedMediaTypeError extends WorkItemsError {}
/** The request body is not valid for its content type. */
export class MalformedBodyError extends WorkItemsError {}

/** The body in the gateway's event. */
export type RawBody = Pick<APIGatewayProxyEvent, "body" | "isBase64Encoded">;
/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** The content of a request body: JSON for the route's schema, or a file. */
export type RequestBody =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "file"; readonly file: UploadedFile };

/** Reads a body. @throws BodyTooLargeError, then UnsupportedMediaTypeError, MalformedBodyError, InvalidInputError */
export type ReadBody = (raw: RawBody, headers: Headers) => Promise<RequestBody>;

/** Checks the size of a body. @param advice end of the error message: what to do instead @throws BodyTooLargeError */
export const assertSize = ({ body, isBase64Encoded }: RawBody, advice = ""): void => {
  if (Buffer.byteLength(body ?? "", isBase64Encoded ? "base64" : "utf8") <= BODY_MAX_BYTES) return;
  throw new BodyTooLargeError(`the request body must be at most ${BODY_MAX_BYTES} bytes${advice}`);
};

const isUtf8 = (charset: string | undefined): boolean => charset === undefined || /^utf-?8$/i.test(charset);

/** The media type of the body. @throws UnsupportedMediaTypeError if it is not one of those accepted */
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
