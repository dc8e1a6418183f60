import { setTimeout as sleep } from "node:timers/promises";
import { workItemId } from "../../../lib/identity.ts";
import type { ServiceProcess } from "../../hostile/process/service-process.ts";
import type { LoadRequest } from "./connections.ts";

const ITEMS = 2000;
const ITEMS_IN_BATCH = 10;
const ROWS = 300;

/** Requests of all kinds on many items of an organization, some of which are deleted at any time. */
export const createMixedWork = (organization: string, random: () => number): (() => LoadRequest) => {
  const anyName = (): string => `item ${Math.floor(random() * ITEMS)}`;
  const input = (external_id: string) => ({
    external_id,
    agent_external_id: `agent ${Math.floor(random() * 20)}`,
    custom_attributes: { text: "x".repeat(Math.floor(random() * 500)), n: random() },
    events: [{ external_id: `event ${Math.floor(random() * 5)}`, content: "said something" }],
  });
  const pathOf = (name: string): string => `/v1/work_items/${workItemId(organization, name)}`;
  const allowed = [404];
  const kinds: readonly (readonly [number, () => LoadRequest])[] = [
    [0.35, () => ({ method: "GET", path: pathOf(anyName()), allowed })],
    [
      0.25,
      () => {
        const names = new Set(Array.from({ length: ITEMS_IN_BATCH }, anyName));
        return { method: "POST", path: "/v1/work_items/batch", body: { work_items: [...names].map(input) } };
      },
    ],
    [0.15, () => ({ method: "PATCH", path: pathOf(anyName()), body: { work_item: { type: anyName() } }, allowed })],
    [
      0.1,
      () => ({ method: "GET", path: `/v1/work_items?limit=20&agent_external_id=agent%20${Math.floor(random() * 20)}` }),
    ],
    [0.07, () => ({ method: "POST", path: "/v1/work_items", body: { work_item: input(anyName()) }, allowed: [409] })],
    [
      0.05,
      () => ({ method: "POST", path: `${pathOf(anyName())}/events`, body: { event: { external_id: "e" } }, allowed }),
    ],
    [0.03, () => ({ method: "DELETE", path: pathOf(anyName()), allowed })],
  ];
  return () => {
    let number = random();
    for (const [share, make] of kinds) {
      if (number < share) return make();
      number -= share;
    }
    return { method: "GET", path: "/v1/work_items" };
  };
};

/** Uploads one file after another until told to stop. @returns the jobs that did not complete, and how many did */
export const uploadFiles = async ({ baseUrl, apiKey }: ServiceProcess, isOver: () => boolean) => {
  const headers = { authorization: `Bearer ${apiKey}` };
  const wrong: object[] = [];
  let completed = 0;
  while (!isOver()) {
    const rows = Array.from({ length: ROWS }, (_, row) => `file ${completed} row ${row},call`);
    const form = new FormData();
    form.append("upload[file]", new Blob([`external_id,type\n${rows.join("\n")}\n`]), "items.csv");
    const posted = await fetch(`${baseUrl}/v1/work_items/upload`, { method: "POST", headers, body: form });
    const { data } = (await posted.json()) as { data?: { id: string } };
    if (data === undefined) {
      wrong.push({ posted: posted.status });
      continue;
    }
    let job: { status: string; created_rows?: number } = { status: "pending" };
    while (job.status === "pending" || job.status === "processing") {
      await sleep(200);
      const response = await fetch(`${baseUrl}/v1/work_items/upload/${data.id}`, { headers });
      job = ((await response.json()) as { data?: typeof job }).data ?? { status: String(response.status) };
    }
    if (job.status === "completed" && job.created_rows === ROWS) completed += 1;
    else wrong.push({ job });
  }
  return { completed, wrong };
};
