import { createHmac, randomBytes } from "node:crypto";
import * as z from "zod";

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";
/** How long the secret before signs beside a new one. */
const ROTATION_MS = 24 * 60 * 60 * 1000;

/** The stored secrets of a webhook. */
export const secretsSchema = z.object({
  secret: z.string(),
  previous: z.string().optional(),
  /** Until when the previous one signs too, in milliseconds since the epoch. */
  previous_until: z.number().optional(),
});
/** The secrets of a webhook. */
export type Secrets = Readonly<z.output<typeof secretsSchema>>;

/** A new secret: 32 random bytes. */
export function generateSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The secrets after a rotation. */
export function rotated({ secret }: Secrets, next: string, now: number): Secrets {
  return { secret: next, previous: secret, previous_until: now + ROTATION_MS };
}

function signatureBy(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

/**
 * The headers by which a receiver verifies a message, as Standard Webhooks 1.0.0 has them
 * (https://github.com/standard-webhooks/standard-webhooks).
 * @param now milliseconds since the epoch
 */
export function signedHeaders(id: string, body: string, secrets: Secrets, now: number) {
  const { secret, previous, previous_until: until = 0 } = secrets;
  const timestamp = String(Math.floor(now / 1000));
  const valid = previous !== undefined && now < until ? [secret, previous] : [secret];
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": valid.map((each) => signatureBy(each, `${id}.${timestamp}.${body}`)).join(" "),
  };
}
