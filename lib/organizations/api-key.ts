import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { RegionCode } from "../regions.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^32 ≈ 2^190. */
const SECRET_LENGTH = 32;
/** 62^6 > 2^32: a CRC-32 always fits. */
const CHECKSUM_LENGTH = 6;
/** Hex digits of the hash that name a key to people; they say nothing of the key. */
const KEY_ID_LENGTH = 12;

const shape = new RegExp(`^(wi_([a-z]{2})_[${BASE62}]{${SECRET_LENGTH}})([${BASE62}]{${CHECKSUM_LENGTH}})$`);

const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
};

/** `wi_<region>_<32 base62><6 base62 CRC-32>`: a typing error or the other region's key shows without any read. */
export const generateApiKey = (region: RegionCode): string => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join("");
  const body = `wi_${region}_${secret}`;
  return body + checksumOf(body);
};

/** Whether this text can be a key of this region: shape, region and checksum, no read. */
export const isApiKeyOf = (region: RegionCode, text: string): boolean => {
  const [, body, keyRegion, checksum] = shape.exec(text) ?? [];
  return body !== undefined && keyRegion === region && checksum === checksumOf(body);
};

/** SHA-256 in hex: all that is stored of a key. 190 random bits need no salt and no slow hash. */
export const hashApiKey = (key: string): string => createHash("sha256").update(key).digest("hex");

/** The name of a key in listings and in `revoke`. */
export const apiKeyId = (hash: string): string => hash.slice(0, KEY_ID_LENGTH);
