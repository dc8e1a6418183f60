import type { Clock } from "../clock.ts";
import { UnauthenticatedError } from "../errors.ts";
import type { AccessStore } from "./access-store.ts";
import type { RegionCode } from "../regions.ts";
import { hashApiKey, isApiKeyOf, KEY_SCOPES, type KeyScope } from "./api-key.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import type { Organization } from "./organization.ts";

/** Revoked keys and changed limits take effect within this time. */
export const KEY_CACHE_SECONDS = 30;
/** Long enough to save reads for a client that repeats a wrong key, short enough for a key that was just created. */
export const UNKNOWN_KEY_CACHE_SECONDS = 5;
const CACHED_KEYS_MAX = 1000;

/** Who sends a request. */
export interface Caller {
  readonly organization: Organization;
  readonly keyId: string;
  /** The name that an operator gave the key. */
  readonly keyName: string;
  /** What the key may do. */
  readonly scopes: readonly KeyScope[];
}

interface Access {
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/**
 * Authenticates bearer keys. Form, checksum and region are checked before the table is read. Known and unknown keys
 * have separate caches, so that many invalid keys don't displace a customer's key.
 */
export function createAuthenticate(options: {
  readonly region: RegionCode;
  readonly store: AccessStore;
  readonly clock: Clock;
}) {
  const { region, store, clock } = options;
  const accesses = createExpiringCache<Access>(CACHED_KEYS_MAX, clock);
  const unknownHashes = createExpiringCache<true>(CACHED_KEYS_MAX, clock);
  /** Running reads by hash: simultaneous requests with the same key share one. */
  const reading = new Map<string, Promise<Access | undefined>>();

  const read = async (hash: string): Promise<Access | undefined> => {
    const key = await store.findKey(hash);
    if (key === undefined) return undefined;
    const organization = await store.findOrganization(key.organization);
    if (organization === undefined) return undefined;
    // An expiry that can't be parsed counts as expired.
    const expiry = key.valid_until === undefined ? Infinity : Date.parse(key.valid_until) || 0;
    const validUntil = key.revoked_at === undefined ? expiry : 0;
    return {
      caller: { organization, keyId: key.key_id, keyName: key.name, scopes: key.scopes ?? KEY_SCOPES },
      validUntil,
    };
  };

  const readOnce = async (hash: string): Promise<Access | undefined> => {
    try {
      const access = await read(hash);
      if (access === undefined) unknownHashes.set(hash, true, UNKNOWN_KEY_CACHE_SECONDS * 1000);
      else accesses.set(hash, access, KEY_CACHE_SECONDS * 1000);
      return access;
    } finally {
      reading.delete(hash);
    }
  };

  const find = (hash: string): Promise<Access | undefined> | Access | undefined => {
    const access = accesses.get(hash);
    if (access !== undefined || unknownHashes.get(hash)) return access;
    const running = reading.get(hash) ?? readOnce(hash);
    reading.set(hash, running);
    return running;
  };

  /** Finds the caller of an `Authorization` header. @throws UnauthenticatedError */
  return async (authorization: string | undefined): Promise<Caller> => {
    const key = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
    if (key === undefined || !isApiKeyOf(region, key)) throw new UnauthenticatedError();
    const access = await find(hashApiKey(key));
    if (access === undefined) throw new UnauthenticatedError();
    const { caller, validUntil } = access;
    if (clock() < validUntil) return caller;
    throw new UnauthenticatedError({ organization: caller.organization.id, key: caller.keyId });
  };
}
