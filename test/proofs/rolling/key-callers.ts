import { openAdministration } from "../../../infra/cli/operator/administration.ts";
import { createKey, revokeKey } from "../../../lib/operator/keys.ts";
import { ORGANIZATION, type PatientCaller } from "../kills/callers.ts";
import type { ServiceProcess } from "../service-process.ts";
import { dataDirectoryOf } from "./mixed-service.ts";

/** Keys that an operator has made with the newer version's command. One was revoked before anybody used it. */
export interface Keys {
  readonly reading: string;
  readonly revoked: string;
}

/** Makes a key that only reads, and one that is revoked at once. */
export async function createKeys(directory: string): Promise<Keys> {
  const administration = openAdministration({}, { DATA_DIR: dataDirectoryOf(directory) });
  const { key: reading } = await createKey(administration, ORGANIZATION, { name: "reading", scopes: ["read"] });
  const { key: revoked, record } = await createKey(administration, ORGANIZATION, { name: "revoked" });
  await revokeKey(administration, ORGANIZATION, record.key_id);
  administration.dynamodb.destroy();
  return { reading, revoked };
}

/** Calls with the keys often enough that both versions answer. */
export async function checkKeys(
  { call }: PatientCaller,
  service: ServiceProcess | undefined,
  { reading, revoked }: Keys,
  report: (difference: object) => void,
): Promise<void> {
  const send = async (method: string, key: string): Promise<number> => {
    const body = JSON.stringify({ work_items: [{ external_id: "not written" }] });
    const path = method === "GET" ? "/v1/work_items" : "/v1/work_items/batch";
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${service?.baseUrl}${path}`, { method, headers, ...(method === "POST" && { body }) });
    await response.arrayBuffer();
    return response.status;
  };
  for (let round = 0; round < 10; round++) {
    const found = [await send("GET", reading), await send("POST", reading), await send("GET", revoked)];
    if (found.join() !== "200,403,401") report({ keys: found });
  }
  if ((await call("GET", "/v1/work_items?external_id=not%20written")).status !== 200) report({ keys: "own key" });
}
