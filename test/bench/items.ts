/** The work item with an index, for batches and for CSV rows. */
export const itemOf = (prefix: string, index: number) => ({
  external_id: `${prefix}-${index}`,
  agent_email: `agent${index % 50}@example.com`,
  agent_name: `Agent ${index % 50}`,
  type: "ticket",
  status: "completed" as const,
  completed_at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
  custom_attributes: { priority: "normal", summary: `The printer on floor ${index % 9} is out of paper` },
});

const HEADER =
  "external_id,agent_email,agent_name,type,status,completed_at,custom_attributes.priority,custom_attributes.summary\n";
const LINES_PER_CHUNK = 1000;

/** A CSV file of `rows` work items, in chunks. */
export function* csvOf(rows: number, prefix = "row"): Generator<string> {
  yield HEADER;
  for (let start = 0; start < rows; start += LINES_PER_CHUNK) {
    let chunk = "";
    for (let index = start; index < Math.min(rows, start + LINES_PER_CHUNK); index++) {
      const { custom_attributes: attributes, ...fields } = itemOf(prefix, index);
      const cells = [...Object.values(fields), attributes.priority, attributes.summary];
      chunk += `${cells.join(",")}\n`;
    }
    yield chunk;
  }
}

/** The mapping of `mappedCsvOf`. */
export const MAPPING = {
  fields: {
    external_id: { column: "Ticket" },
    agent_email: { column: "Mail" },
    agent_name: { column: "Agent" },
    type: { value: "ticket" },
    status: { column: "State", values: { Open: "pending", Closed: "completed" } },
    completed_at: { column: "Closed", format: "dd.MM.yyyy HH:mm:ss", time_zone: "Europe/Berlin" },
  },
  others: "custom_attributes",
} as const;

const patternOf = (time: string): string => time.replace(/^(\d{4})-(\d\d)-(\d\d)T([\d:]{8}).*$/, "$3.$2.$1 $4");

/** The same items as another system would write them. */
export const mappedCsvOf = (rows: number, prefix: string): string => {
  const lines = Array.from({ length: rows }, (_, index) => {
    const { custom_attributes: attributes, ...item } = itemOf(prefix, index);
    const time = patternOf(item.completed_at);
    return [
      item.external_id,
      item.agent_email,
      item.agent_name,
      "Closed",
      time,
      attributes.priority,
      attributes.summary,
    ];
  });
  const header = ["Ticket", "Mail", "Agent", "State", "Closed", "priority", "summary"];
  return [header, ...lines].map((cells) => `${cells.join(",")}\n`).join("");
};
