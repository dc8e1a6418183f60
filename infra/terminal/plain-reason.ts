const NO_PERMISSION = "you don't have permission";
const NO_TLS = "it doesn't respond with TLS; is it an http:// address, or a proxy?";
const UNTRUSTED = "its certificate isn't from an authority that Node.js trusts; NODE_EXTRA_CA_CERTS names another one";
const NO_ANSWER = "it didn't respond in time";

/** What Node.js's and OpenSSL's codes mean. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  ENOTDIR: "a part of the path isn't a directory",
  EISDIR: "it is a directory",
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  ECONNREFUSED: "nothing listens there; is it running?",
  ECONNRESET: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host name can't be looked up; are you online?",
  ETIMEDOUT: NO_ANSWER,
  UND_ERR_CONNECT_TIMEOUT: NO_ANSWER,
  UND_ERR_HEADERS_TIMEOUT: NO_ANSWER,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/** The meaning of the code of an error or of one of its causes; undefined if no code is known. */
export function meaningOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "TimeoutError") return NO_ANSWER;
  const own = "code" in error && typeof error.code === "string" ? REASONS[error.code] : undefined;
  return own ?? meaningOf(error.cause);
}

/** The first line of an error's message, or its code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The error of a refused connection has a code and no message.
  const code = "code" in error ? String(error.code) : error.name;
  return error.message.trim().split("\n", 1)[0] || code;
}

/** Why something failed, for people: the meaning of its code, else the first line of its message. */
export function plainReason(error: unknown): string {
  if (error instanceof SyntaxError) return "it isn't valid JSON";
  const meaning = meaningOf(error);
  if (meaning !== undefined) return meaning;
  return reasonOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
}
