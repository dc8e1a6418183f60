import type { RouteName } from "../../support/handlers.ts";
import { EXTERNAL_IDS, type Tenant, type Tenants } from "./tenants.ts";

/** A list with its filters, and a cursor that belongs to it. */
interface Place {
  readonly name: RouteName;
  readonly key: string;
  readonly params: Readonly<Record<string, string>>;
  readonly filters: Readonly<Record<string, string>>;
}

const ATTEMPTS_MAX = 5;
const placesOf = ({ key, items }: Tenant): readonly Place[] => [
  { name: "listWorkItems", key, params: {}, filters: {} },
  { name: "listWorkItems", key, params: {}, filters: { type: "call" } },
  { name: "listWorkItems", key, params: {}, filters: { agent_external_id: "agent" } },
  { name: "listWorkItems", key, params: {}, filters: { agent_external_id: "agent", type: "call" } },
  { name: "listWorkItemUploads", key, params: {}, filters: {} },
  { name: "listWorkItemUploads", key, params: {}, filters: { status: "pending" } },
  { name: "listConversationUploads", key, params: {}, filters: {} },
  ...items.map((id): Place => ({ name: "listWorkItemEvents", key, params: { id }, filters: {} })),
];

/** All texts that differ from the cursor in one bit, of its bytes or of its letters. @param step 1 for every bit */
const flipped = (cursor: string, step: number): string[] => {
  const texts: string[] = [];
  for (const [encoding, bytes] of [
    ["base64url", Buffer.from(cursor, "base64url")],
    ["latin1", Buffer.from(cursor, "latin1")],
  ] as const) {
    for (let bit = 0; bit < bytes.length * 8; bit += step) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      texts.push(changed.toString(encoding));
    }
  }
  return texts;
};

/** How many cursors were tried, and which were accepted although they should not be. */
export interface CursorTrial {
  readonly tried: number;
  readonly accepted: readonly object[];
}

/**
 * Tries every cursor of two organizations at every list, item and set of filters that it was not made for, and with
 * single bits flipped.
 * @param step 1 for every bit, 2 for every second one and so on
 */
export const tryCursors = async ({ request, owner, stranger }: Tenants, step: number): Promise<CursorTrial> => {
  const accepted: object[] = [];
  let tried = 0;
  /** Asks again while the store is too slow, as callers do: other tests take the machine's time. */
  const ask = async ({ name, key, params, filters }: Place, cursor?: string) => {
    const query = { limit: 1, ...filters, ...(cursor !== undefined && { cursor }) };
    for (let attempt = 1; ; attempt++) {
      const response = await request(name, key, { params, query });
      if (![429, 503].includes(response.status) || attempt === ATTEMPTS_MAX) return response;
    }
  };
  const expectRefused = async (place: Place, cursor: string, why: string): Promise<void> => {
    tried += 1;
    const { status, text } = await ask(place, cursor);
    if (status !== 422) accepted.push({ why, place, cursor, status, text });
  };

  const places = [owner, stranger].flatMap(placesOf);
  const cursors = await Promise.all(
    places.map(async (place) => {
      const { status, text } = await ask(place);
      const { meta } = JSON.parse(text) as { meta?: { page: { next?: string } } };
      const next = meta?.page.next;
      if (status !== 200 || next === undefined) {
        throw new Error(`no cursor for ${EXTERNAL_IDS.length} things in ${place.name}: ${status} ${text}`);
      }
      const again = await ask(place, next);
      if (again.status !== 200) accepted.push({ why: "its own cursor is refused", place, text: again.text });
      return next;
    }),
  );
  for (const [index, place] of places.entries()) {
    for (const [other, cursor] of cursors.entries()) {
      if (other !== index) await expectRefused(place, cursor, "made for another list");
    }
  }
  // The cursors of one organization of each kind.
  for (const [index, place] of places.slice(0, places.length / 2).entries()) {
    const own = cursors[index] ?? "";
    for (const cursor of [`${own}=`, "x"]) await expectRefused(place, cursor, "no cursor");
    for (const cursor of flipped(own, step)) await expectRefused(place, cursor, "a bit was flipped");
  }
  return { tried, accepted };
};
