export interface S3Response {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An error of S3, with the code and message in https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html. */
export class S3Refusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const XML_ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** An XML document with a root element and one child element for each entry. */
function xml(root: string, elements: Readonly<Record<string, string>>): string {
  const inner = Object.entries(elements).map(
    ([name, value]) => `<${name}>${value.replaceAll(/[&<>"]/g, (character) => XML_ESCAPES[character] ?? "")}</${name}>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${inner.join("")}</${root}>`;
}

const XML_TYPE = { "content-type": "application/xml" } as const;

/** S3's error response. Any other error becomes InternalError. */
export function toS3Response(error: unknown): S3Response {
  const refusal =
    error instanceof S3Refusal
      ? error
      : new S3Refusal(500, "InternalError", "We encountered an internal error. Please try again.");
  return {
    status: refusal.status,
    headers: XML_TYPE,
    body: xml("Error", { Code: refusal.code, Message: refusal.message }),
  };
}
