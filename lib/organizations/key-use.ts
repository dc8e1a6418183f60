import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { isoTime } from "../clock.ts";
import { toUpdate } from "../store/conditional-update.ts";
import { tryWrite } from "../store/conditional-write.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import { type LimitsRuntime, STORE_TIMEOUT_MS } from "./limit-record.ts";

const HOUR_MS = 3_600_000;
const REMEMBERED_KEYS_MAX = 1000;
/** How long after a failure the next request tries again. */
const TRY_AGAIN_MS = 60_000;

/** Primary key of the record of a key's last use, in the Limits table. */
export function keyUseKey(keyId: string) {
  return { pk: `KEY#${keyId}`, sk: "#USE" };
}

/** Notes that a key is used now. Takes at most 100 ms and never throws. */
export type NoteKeyUse = (keyId: string) => Promise<void>;

/**
 * Notes the hour of a key's last use: each instance writes once an hour for each key. An earlier hour never replaces a
 * later one.
 */
export function createNoteKeyUse({ dynamodb, environment, clock }: LimitsRuntime): NoteKeyUse {
  const noted = createExpiringCache<true>(REMEMBERED_KEYS_MAX, clock);

  const note = async (keyId: string, hour: string): Promise<void> => {
    const condition = "attribute_not_exists(#used_at) OR #used_at < :hour";
    const change = { key: keyUseKey(keyId), set: { used_at: hour }, condition, given: { hour } };
    const update = toUpdate(environment.LIMITS_TABLE, change);
    await tryWrite(dynamodb, new UpdateCommand(update), {
      abortSignal: AbortSignal.timeout(STORE_TIMEOUT_MS),
    });
  };

  return async (keyId) => {
    if (noted.get(keyId)) return;
    const now = clock();
    const next = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
    noted.set(keyId, true, next - now);
    await note(keyId, isoTime(next - HOUR_MS)).catch(() => noted.set(keyId, true, TRY_AGAIN_MS));
  };
}
