import { parse } from "csv-parse/sync";
import type { WorkItemInput } from "../../lib/work-items/work-item.ts";

/** A work item as a caller sends it. */
export type Incident = Omit<WorkItemInput, "custom_attributes" | "events"> & {
  readonly custom_attributes: Record<string, string>;
  readonly events: NonNullable<WorkItemInput["events"]>;
};

type LogRow = Record<string, string>;

/** Columns that become fields or events; all others become custom attributes. */
const MAPPED = new Set([
  "number",
  "incident_state",
  "assigned_to",
  "category",
  "resolved_at",
  "closed_at",
  "sys_mod_count",
  "sys_updated_by",
  "sys_updated_at",
]);

const known = (value: string | undefined): string | undefined =>
  value === undefined || value === "?" ? undefined : value;

/** Converts `29-02-2016 01:23`, taken as UTC, to RFC 3339; undefined if the time is unknown. */
export const logTime = (value: string | undefined): string | undefined => {
  const match = /^(\d\d)-(\d\d)-(\d{4}) (\d\d:\d\d)$/.exec(known(value) ?? "");
  return match ? `${match[3]}-${match[2]}-${match[1]}T${match[4]}:00Z` : undefined;
};

const statusOf = (state: string | undefined) => {
  if (state === "New") return "pending";
  return state === "Resolved" || state === "Closed" ? "completed" : "in_progress";
};

/** The fields without those that are undefined. */
const present = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const toEvent = (row: LogRow) => ({
  external_id: `${row["number"]}-${row["sys_mod_count"]}`,
  ...present({
    actor_external_id: known(row["sys_updated_by"]),
    content: known(row["incident_state"]),
    occurred_at: logTime(row["sys_updated_at"]),
  }),
});

const toIncident = (rows: readonly LogRow[]): Incident => {
  const last = rows.at(-1) as LogRow;
  const agent = known(last["assigned_to"]);
  const attributes = Object.entries(last).filter(([column, value]) => !MAPPED.has(column) && known(value));
  return {
    external_id: last["number"] ?? "",
    status: statusOf(last["incident_state"]),
    custom_attributes: Object.fromEntries(attributes),
    events: rows.map(toEvent),
    ...present({
      agent_external_id: agent,
      agent_name: agent,
      type: known(last["category"]),
      completed_at: logTime(last["resolved_at"]) ?? logTime(last["closed_at"]),
    }),
  };
};

/** Reads an incident event log, one row for each change, as work items in the order of their first rows. */
export const readIncidents = (csv: string): Incident[] => {
  const rows = parse<LogRow>(csv, { columns: true, bom: true });
  return [...Map.groupBy(rows, (row) => row["number"]).values()].map(toIncident);
};

const quote = (value: string): string => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** Writes incidents as an upload file. Each attribute has its own column; events are left out. */
export const toUploadCsv = (incidents: readonly Incident[]): string => {
  const names = [...new Set(incidents.flatMap(({ custom_attributes: attributes }) => Object.keys(attributes)))];
  const fields = ["external_id", "agent_name", "agent_external_id", "type", "status", "completed_at"] as const;
  const header = [...fields, ...names.map((name) => `custom_attributes.${name}`)];
  const lines = incidents.map((incident) =>
    [...fields.map((field) => incident[field] ?? ""), ...names.map((name) => incident.custom_attributes[name] ?? "")]
      .map(quote)
      .join(","),
  );
  return [header.map(quote).join(","), ...lines, ""].join("\n");
};
