import type { Json, Response, Send } from "./client.ts";

/** What the checks of one run share. */
export interface Run {
  readonly url: string;
  readonly key: string;
  /** The external_ids of everything that the run makes begin with it. */
  readonly prefix: string;
  readonly send: Send;
}

/** Something that a deployment must do as the documentation says. */
export interface Check {
  readonly name: string;
  /** @returns what was seen, in a few words; "skipped: …" if it cannot be seen here. @throws Difference */
  readonly run: (run: Run) => Promise<string>;
}

/** The deployment does something else than the documentation says. */
export class Difference extends Error {}

const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 200);

/** @throws Difference unless the value is the expected one */
export const expectEqual = (what: string, value: unknown, expected: unknown): void => {
  if (JSON.stringify(value) !== JSON.stringify(expected)) {
    throw new Difference(`${what}: ${shown(value)} instead of ${shown(expected)}`);
  }
};

/** Checks status and request id, and that an error is `{ "error": string }`. @returns the body @throws Difference */
export const expectStatus = (response: Response, status: number): Json => {
  const { status: got, body, headers, text } = response;
  if (got !== status) throw new Difference(`${got} instead of ${status}: ${text.slice(0, 200)}`);
  if (headers.get("x-request-id") === null) throw new Difference(`${status} without x-request-id`);
  if (body === undefined) throw new Difference(`${status} without JSON: ${text.slice(0, 200)}`);
  if (status >= 400) expectEqual(`the body of the ${status}`, body, { error: body["error"] });
  if (status >= 400 && typeof body["error"] !== "string") throw new Difference(`${status} without a text in error`);
  return body;
};
