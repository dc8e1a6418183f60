import { workItemId } from "../../../lib/identity.ts";
import { ORGANIZATION, type PatientCaller } from "../kills/callers.ts";

type Report = (difference: object) => void;

/** Walks a list to its end by its cursors, each of which may be read by another version than the one that made it. */
export async function walkList({ call }: PatientCaller, limit: number, report: Report): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const cursor = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
    const response = await call("GET", `/v1/work_items?limit=${limit}${cursor}`);
    if (response.status !== 200) {
      report({ list: found.length, response });
      return found;
    }
    found.push(...(response.body.data as { readonly external_id: string }[]).map((item) => item.external_id));
    next = (response.body.meta as { readonly page: { readonly next?: string } }).page.next;
  }
  return found;
}

/**
 * Compares a list with what it must hold once.
 * @param others whether it may hold more, or hold other items twice
 * @returns the difference, if there is one
 */
export function compareList(found: readonly string[], expected: readonly string[], others = false): readonly object[] {
  const times = Map.groupBy(found, (externalId) => externalId);
  const missing = expected.filter((externalId) => !times.has(externalId));
  const isKnown = new Set(expected);
  const repeated = [...times].filter(([id, all]) => all.length > 1 && (!others || isKnown.has(id))).map(([id]) => id);
  const unexpected = others ? [] : [...times.keys()].filter((externalId) => !isKnown.has(externalId));
  return missing.length + repeated.length + unexpected.length > 0 ? [{ missing, repeated, unexpected }] : [];
}

/** Creates items that nothing changes afterwards. */
export async function createKept({ call }: PatientCaller, names: readonly string[], report: Report): Promise<void> {
  for (const [index, externalId] of names.entries()) {
    const day = String((index % 28) + 1).padStart(2, "0");
    const item = { external_id: externalId, agent_external_id: "kept", completed_at: `2026-01-${day}T00:00:00Z` };
    const response = await call("POST", "/v1/work_items", { work_item: item }, externalId);
    if (response.status !== 201) report({ create: externalId, response });
  }
}

/** Creates an item twice with one `Idempotency-Key`, then once without: one version knows the other's answer. */
export async function createTwice({ call }: PatientCaller, externalId: string, report: Report): Promise<void> {
  const body = { work_item: { external_id: externalId, custom_attributes: { of: externalId } } };
  for (const [key, expected] of [
    [externalId, 201],
    [externalId, 201],
    [undefined, 409],
  ] as const) {
    const response = await call("POST", "/v1/work_items", body, key);
    if (response.status !== expected) report({ createTwice: externalId, key, response });
  }
  const { status, body: read } = await call("GET", `/v1/work_items/${workItemId(ORGANIZATION, externalId)}`);
  const { custom_attributes: attributes } = (read.data ?? {}) as { readonly custom_attributes?: { of?: string } };
  if (status !== 200 || attributes?.of !== externalId) report({ createTwice: externalId, status, attributes });
}
