import { createHmac, randomBytes } from "node:crypto";
import * as z from "zod";

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";
/** How long a secret still signs after it was replaced. */
const ROTATION_MS = 24 * 60 * 60 * 1000;

/** The stored secrets of a webhook. */
export const secretsSchema = z.object({
  secret: z.string(),
  /** Previous secrets, newest first, and until when each still signs, in milliseconds since the epoch. */
  previous: z.array(z.object({ secret: z.string(), until: z.number() })).optional(),
  /** Hash of the body of the request that created the webhook, if it had an `Idempotency-Key`. */
  request: z.string().optional(),
});
/** The secrets of a webhook. */
export type Secrets = Readonly<z.output<typeof secretsSchema>>;

/** A new secret: 32 random bytes. */
export function generateSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Each adds about 50 bytes to a header. */
const PREVIOUS_MAX = 9;

function previousAt({ previous = [] }: Secrets, now: number): NonNullable<Secrets["previous"]> {
  return previous.filter(({ until }) => now < until);
}

/**
 * When the secrets can next be rotated, in milliseconds since the epoch; undefined if they can be now. Each secret signs
 * for 24 hours after it was replaced, and only so many signatures fit into a header.
 */
export function rotatableAt(secrets: Secrets, now: number): number | undefined {
  return previousAt(secrets, now).at(PREVIOUS_MAX - 1)?.until;
}

/**
 * The secrets after a rotation, if `rotatableAt` allows it. All current secrets still sign: if the response is lost, the
 * rotation is repeated, and its receiver doesn't know the secret in between.
 */
export function rotated(secrets: Secrets, next: string, now: number): Secrets {
  const before = { secret: secrets.secret, until: now + ROTATION_MS };
  return { ...secrets, secret: next, previous: [before, ...previousAt(secrets, now)] };
}

function signatureBy(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

/**
 * The headers by which a receiver verifies a message, as in Standard Webhooks 1.0.0
 * (https://github.com/standard-webhooks/standard-webhooks).
 * @param now milliseconds since the epoch
 */
export function signedHeaders(id: string, body: string, secrets: Secrets, now: number) {
  const timestamp = String(Math.floor(now / 1000));
  const valid = [secrets, ...previousAt(secrets, now)].map(({ secret }) => secret);
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": valid.map((secret) => signatureBy(secret, `${id}.${timestamp}.${body}`)).join(" "),
  };
}
