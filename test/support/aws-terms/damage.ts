import type { ServerResponse } from "node:http";
import type { Faults } from "./faults.ts";

/** A response as it is on the wire. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  /**
   * Whether the connection breaks at the body's end, before the length that the headers announce; or before the headers,
   * if there is no body.
   */
  readonly isCut?: boolean;
}

/** Status codes of front ends, such as load balancers, that respond instead of a service. */
const FRONT_END_STATUSES = [200, 500, 502, 503, 504] as const;
const HTML = Buffer.from("<html><body><b>Http/1.1 Service Unavailable</b></body></html>");

function whole(status: number, headers: WireResponse["headers"], body: Buffer): WireResponse {
  return {
    status,
    headers: { ...headers, "content-length": String(body.length) },
    body,
  };
}

/** A front end's response, if one occurs now. @param when before the request is carried out, or after it */
export function frontEndResponse(faults: Faults, when: "before" | "after"): WireResponse | undefined {
  const status = (): number => FRONT_END_STATUSES[faults.below(FRONT_END_STATUSES.length)] ?? 200;
  if (faults.occurs(when === "before" ? "html" : "html after")) {
    return whole(status(), { "content-type": "text/html" }, HTML);
  }
  return faults.occurs(when === "before" ? "empty" : "empty after") ? whole(status(), {}, Buffer.alloc(0)) : undefined;
}

/** How the response of a request that was carried out is damaged; undefined if it is not. */
export function damageOf(faults: Faults): ((response: WireResponse) => WireResponse) | undefined {
  const foreign = frontEndResponse(faults, "after");
  if (foreign !== undefined) return () => foreign;
  const half = (body: Buffer): Buffer => body.subarray(0, Math.floor(body.length / 2));
  const cut = ({ status, headers, body }: WireResponse): WireResponse => ({
    ...whole(status, headers, body),
    body: half(body),
    isCut: true,
  });
  // The headers to HEAD stay as they are: a length of 0 would say that the object is empty.
  if (faults.occurs("truncated")) {
    return (response) =>
      response.body.length === 0 ? cut(response) : whole(response.status, response.headers, half(response.body));
  }
  return faults.occurs("cut") ? cut : undefined;
}

/** Sends a response. @param isHead whether it has no body */
export function sendWire(
  to: ServerResponse,
  { status, headers, body, isCut = false }: WireResponse,
  isHead = false,
): void {
  if (isCut && body.length === 0) {
    to.destroy();
    return;
  }
  to.writeHead(status, headers as Record<string, string>);
  if (isHead) to.end();
  else if (isCut) to.write(body, () => to.destroy());
  else to.end(body);
}
