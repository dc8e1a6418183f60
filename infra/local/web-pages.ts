import type { IncomingMessage, RequestListener } from "node:http";

/** What programs on this machine call it. A page whose name is made to lead here (DNS rebinding) sends its own name. */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** Whether a request is addressed to this machine, as all are that programs send. */
export function isForThisMachine({ headers }: IncomingMessage): boolean {
  return OWN_HOST.test(headers.host ?? "");
}

/** Whether a web page, or a link in one, has caused a request: only browsers send these headers. */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

/**
 * Puts an engine behind a check that no request comes from a web page: the engines check no signatures, so any page that
 * finds the port could read and write everything.
 */
export function withoutPages(engine: RequestListener): RequestListener {
  return (message, response) => {
    if (isForThisMachine(message) && !isFromPage(message)) {
      engine(message, response);
      return;
    }
    message.resume();
    response.writeHead(403, { "content-type": "text/plain" }).end("This engine isn't for web pages.\n");
  };
}
