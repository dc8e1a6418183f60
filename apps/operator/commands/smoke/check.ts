import type { Clock } from "@work-items/lib/clock.ts";
import type { Json, Response, Send } from "./http-client.ts";

/** What the checks of one run share. */
export interface Run {
  readonly url: string;
  readonly key: string;
  /** Prefix of the external_ids of everything that the run creates. */
  readonly prefix: string;
  readonly send: Send;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  readonly clock: Clock;
  /** Address of a receiver of webhooks. */
  readonly receiver: string | undefined;
  /** Erases an item as operators do; undefined if the run has no access to the tables. */
  readonly erase: ((externalId: string) => Promise<unknown>) | undefined;
}

/** A documented behaviour that a deployment must have. */
export interface Check {
  readonly name: string;
  /** @returns what it saw, in a few words; "skipped: …" if it can't be checked here. @throws Difference */
  readonly run: (run: Run) => Promise<string>;
}

/** The deployment doesn't behave as documented. */
export class Difference extends Error {}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 200);
}

/** @throws Difference unless the value is the expected one */
export function expectEqual(what: string, value: unknown, expected: unknown): void {
  if (JSON.stringify(value) !== JSON.stringify(expected)) {
    throw new Difference(`${what}: ${shown(value)} instead of ${shown(expected)}`);
  }
}

/** Checks status and request id, and that an error is `{ "error": string }`. @returns the body @throws Difference */
export function expectStatus(response: Response, ...expected: readonly number[]): Json {
  const { status, body, headers, text } = response;
  if (!expected.includes(status)) {
    throw new Difference(`${status} instead of ${expected.join(" or ")}: ${text.slice(0, 200)}`);
  }
  if (headers.get("x-request-id") === null) throw new Difference(`${status} without x-request-id`);
  if (body === undefined) throw new Difference(`${status} without JSON: ${text.slice(0, 200)}`);
  if (status >= 400) expectEqual(`the body of the ${status}`, body, { error: body["error"] });
  if (status >= 400 && typeof body["error"] !== "string") throw new Difference(`${status} without a text in error`);
  return body;
}
