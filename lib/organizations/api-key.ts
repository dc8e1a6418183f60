import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { RegionCode } from "../regions.ts";
import * as z from "zod";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^32 ≈ 2^190. */
const SECRET_LENGTH = 32;
/** 62^6 > 2^32, so every CRC-32 fits. */
const CHECKSUM_LENGTH = 6;
/** Hex digits of the hash that serve as the key's id. The key can't be derived from them. */
const KEY_ID_LENGTH = 12;

const keyPattern = new RegExp(`^(wi_([a-z]{2})_[${BASE62}]{${SECRET_LENGTH}})([${BASE62}]{${CHECKSUM_LENGTH}})$`);

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/** Makes a key `wi_<region>_<32 base62><6 base62 CRC-32>`. Its form reveals typing errors and a wrong region. */
export function generateApiKey(region: RegionCode): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join("");
  const body = `wi_${region}_${secret}`;
  return body + checksumOf(body);
}

/** Whether a text has the form, region and checksum of a key of this region. */
export function isApiKeyOf(region: RegionCode, text: string): boolean {
  const [, body, keyRegion, checksum] = keyPattern.exec(text) ?? [];
  return body !== undefined && keyRegion === region && checksum === checksumOf(body);
}

/** SHA-256 in hex, which is stored instead of the key. 190 random bits need neither a salt nor a slow hash. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** The id of a key, for lists and for `revoke`. */
export function apiKeyId(hash: string): string {
  return hash.slice(0, KEY_ID_LENGTH);
}

/**
 * What a key may do: read everything but webhooks, write work items and events, start and cancel uploads, or manage
 * webhooks.
 */
export const keyScopeSchema = z
  .enum(["read", "write", "upload", "webhooks"])
  .meta({ id: "KeyScope", description: "What a key may do. More may be added." });
/** One of the scopes of a key. */
export type KeyScope = z.output<typeof keyScopeSchema>;
/** All scopes. A key whose record names none has all of them. */
export const KEY_SCOPES = keyScopeSchema.options;
