import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createKey, revokeKey } from "../../../lib/operator/keys.ts";
import { ORGANIZATION, type PatientCaller } from "../kills/callers.ts";
import type { ServiceProcess } from "../service-process.ts";
import { variablesOf } from "./mixed-service.ts";

/** Keys that an operator has made with the newer version's command. One was revoked before anybody used it. */
export interface Keys {
  readonly reading: string;
  readonly revoked: string;
}

/** Makes a key that only reads, and one that is revoked at once. */
export async function createKeys(directory: string): Promise<Keys> {
  const variables = variablesOf(directory);
  const client = new DynamoDBClient({
    region: variables["AWS_REGION"] ?? "",
    endpoint: variables["AWS_ENDPOINT_URL_DYNAMODB"] ?? "",
    credentials: {
      accessKeyId: variables["AWS_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: variables["AWS_SECRET_ACCESS_KEY"] ?? "",
    },
  });
  const administration = {
    dynamodb: DynamoDBDocumentClient.from(client),
    environment: { ACCESS_TABLE: variables["ACCESS_TABLE"] ?? "" },
    region: "us",
    clock: Date.now,
  } as const;
  const { key: reading } = await createKey(administration, ORGANIZATION, { name: "reading", scopes: ["read"] });
  const { key: revoked, record } = await createKey(administration, ORGANIZATION, { name: "revoked" });
  await revokeKey(administration, ORGANIZATION, record.key_id);
  client.destroy();
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
