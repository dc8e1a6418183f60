import { dataOf } from "work-items-client/api-error.ts";
import type { BatchGetResult, Client, WorkItem } from "work-items-client/client.ts";
import { inCalls, type NamesBody } from "work-items-client/named-item-calls.ts";
import { entriesOf, type Page } from "work-items-client/http.ts";
import { parseUuid } from "@work-items/lib/schema.ts";
import { repeatableFilters, workItemFilterNames } from "@work-items/lib/work-items/work-item-filters.ts";
import { filterOption, ITEM_CSV_HEADER, itemCsvLine } from "@work-items/importer/files/item-csv.ts";
import { printable, type Terminal } from "@work-items/terminal/terminal.ts";
import { type Command, type CommandCall, EXIT, type Options, textOption } from "./command.ts";
import { CommandError, UsageError } from "@work-items/terminal/command-line.ts";
import { exportSince } from "./changes-command.ts";
import { keepingDigits } from "./service-client.ts";

const PAGE = 100;

const EXTERNAL_ID_OPTION = { "--external-id": "the arguments are external_ids, even those that look like ids" };

/** Makes the function that says whether a name is an id, not an external_id. */
function namesById({ options }: CommandCall): (name: string) => boolean {
  return (name) => options["externalId"] !== true && parseUuid(name) !== undefined;
}

/** The service's result for each name, in the order of the names. */
async function* resultsOf<R extends { readonly index: number; readonly status: string }>(
  call: CommandCall,
  send: (body: NamesBody) => Promise<readonly R[]>,
): AsyncGenerator<readonly [name: string, R]> {
  const isId = namesById(call);
  const { positionals: names } = call;
  const byId = inCalls({ ids: names.filter(isId) }, send);
  const byExternalId = inCalls({ externalIds: names.filter((name) => !isId(name)) }, send);
  for (const name of names) {
    const { value } = await (isId(name) ? byId : byExternalId).next();
    if (value) yield [name, value];
  }
}

function notFound(name: string): string {
  return `there is no work item ${name}`;
}

/** Prints why a name has no result. */
function noteFailure({ terminal }: CommandCall, name: string, error: string | null): void {
  terminal.note(error === null ? notFound(name) : `${name}: ${error}`);
  terminal.exitCode = EXIT.someFailed;
}

async function printOne(call: CommandCall, name: string): Promise<void> {
  const { http, workItems } = call.client();
  const ids = namesById(call)(name)
    ? [name]
    : await Array.fromAsync(workItems.list({ external_id: name }), ({ id }) => id);
  const [id] = ids;
  if (id === undefined) throw new CommandError(notFound(name));
  const item = http.GET("/v1/work_items/{id}", { params: { path: { id } }, parseAs: "text" });
  const { data } = await keepingDigits<{ readonly data: object }>(item);
  call.terminal.printData(JSON.stringify(data, null, 2));
}

/** Prints items without their events, one per line. */
async function printMany(call: CommandCall): Promise<void> {
  const { http } = call.client();
  const found = resultsOf(call, async (body) => {
    const response = http.POST("/v1/work_items/batch_get", { body, parseAs: "text" });
    const { data } = await keepingDigits<{ readonly data: { readonly results: readonly BatchGetResult[] } }>(response);
    return data.results;
  });
  for await (const [name, { data, error }] of found) {
    if (data) call.terminal.printData(JSON.stringify(data));
    else noteFailure(call, name, error);
  }
}

async function deleteItems(call: CommandCall): Promise<void> {
  const { terminal, options } = call;
  const { http } = call.client();
  const isDry = options["dryRun"] === true;
  const deleted = resultsOf(call, async (body) => {
    const response = http.POST("/v1/work_items/batch_delete", { body: { ...body, dry_run: isDry } });
    return (await dataOf(response)).results;
  });
  for await (const [name, { status, error }] of deleted) {
    if (status === "deleted") terminal.print(`${name} ${isDry ? "would be deleted" : "deleted"}`);
    else if (status === "unchanged") terminal.print(`${name} was deleted before`);
    else noteFailure(call, name, error);
  }
}

const FILTER_OPTIONS = Object.fromEntries(
  workItemFilterNames.map((name) => {
    const option = filterOption(name);
    return repeatableFilters.includes(name)
      ? [`${option} <values...>`, `only items with this ${name}, or with one of several`]
      : [`${option} <value>`, `only items with this ${name}`];
  }),
);

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The items that match the filters, in the order of the list. */
async function* itemsOf({ http }: Client, options: Options, limit: number): AsyncGenerator<WorkItem> {
  const filters = workItemFilterNames
    .map((name) => [name, options[camelCase(name)]] as const)
    .filter(([, value]) => value !== undefined);
  let left = limit;
  const items = entriesOf((cursor) => {
    const query = { ...Object.fromEntries(filters), ...cursor, limit: Math.min(PAGE, left) };
    return keepingDigits<Page<WorkItem>>(http.GET("/v1/work_items", { params: { query }, parseAs: "text" }));
  });
  for await (const item of items) {
    yield item;
    if (--left === 0) return;
  }
}

async function printCsv(terminal: Terminal, items: AsyncIterable<WorkItem>): Promise<void> {
  terminal.printData(ITEM_CSV_HEADER);
  for await (const item of items) terminal.printData(itemCsvLine(item));
}

async function printJson(terminal: Terminal, items: AsyncIterable<WorkItem>): Promise<void> {
  for await (const item of items) terminal.printData(JSON.stringify(item));
}

const segmenter = new Intl.Segmenter();

/** Characters as people count them. */
function widthOf(text: string): number {
  return Array.from(segmenter.segment(text)).length;
}

/** Prints items for people: columns with a header, as wide as their longest value. */
async function printTable(terminal: Terminal, items: AsyncIterable<WorkItem>): Promise<void> {
  const rows = [["EXTERNAL ID", "STATUS", "TYPE", "AGENT", "COMPLETED"]];
  for await (const { external_id: externalId, status, type, agent, completed_at: completedAt } of items) {
    const who = agent.name ?? agent.email ?? agent.external_id ?? "";
    rows.push(
      [externalId, status, type, who, completedAt ?? ""].map((value) => printable(value.replaceAll(/\s+/g, " "))),
    );
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? "")))) ?? [];
  for (const row of rows) {
    const cells = row.map((value, column) => value + " ".repeat((widths[column] ?? 0) - widthOf(value)));
    terminal.print(cells.join("  ").trimEnd());
  }
}

function limitOf(options: Options): number {
  const limit = Number(textOption(options, "limit") ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError("--limit must be a whole number of at least 1");
  return limit;
}

async function list({ terminal, client, options }: CommandCall) {
  if (options["json"] === true && options["csv"] === true) throw new UsageError("--json or --csv, not both");
  const items = itemsOf(client(), options, limitOf(options));
  const isForPeople = terminal.stdout.isTTY === true && options["json"] !== true;
  if (options["csv"] === true) await printCsv(terminal, items);
  else await (isForPeople ? printTable(terminal, items) : printJson(terminal, items));
}

export const itemCommands: Readonly<Record<string, Command>> = {
  get: {
    arguments: "<ids...>",
    summary:
      "print a work item with its events as JSON, by id or external_id; several IDs: one per line, without events",
    options: EXTERNAL_ID_OPTION,
    examples: ["get T-1001", "get T-1001 T-1002"],
    run: (call) => {
      const [name = "", ...others] = call.positionals;
      return others.length > 0 ? printMany(call) : printOne(call, name);
    },
  },
  list: {
    arguments: "",
    summary: "list work items, newest completion first",
    options: {
      ...FILTER_OPTIONS,
      "--limit <number>": "maximum number of items (default: 50)",
      "--json": "one JSON object per line (default in a pipe; a terminal gets a table)",
      "--csv": "CSV that you can import again; formulas get an apostrophe, which import removes",
    },
    examples: ["list --status pending --limit 10", "list --type ticket --json"],
    run: list,
  },
  export: {
    arguments: "",
    summary: "print all work items as CSV that you can import again, without events; formulas get an apostrophe",
    options: {
      ...FILTER_OPTIONS,
      "--json": "one JSON object per line, in which formulas get no apostrophe",
      "--since <file>": "JSON of what changed since the last call with this file, which keeps the cursor",
      "--events": "with --since: include the events of each work item",
    },
    examples: ["export --status completed > completed.csv", "export --since cursor.txt > changes.ndjson"],
    run: async (call) => {
      const { terminal, client, options } = call;
      const since = textOption(options, "since");
      const filter = workItemFilterNames.find((name) => options[camelCase(name)] !== undefined);
      if (since !== undefined && filter !== undefined)
        throw new UsageError("--since exports all changes; omit the filters");
      if (since !== undefined) return exportSince(call, since);
      if (options["events"] === true) throw new UsageError("--events needs --since");
      const items = itemsOf(client(), options, Infinity);
      await (options["json"] === true ? printJson(terminal, items) : printCsv(terminal, items));
    },
  },
  delete: {
    arguments: "<ids...>",
    summary: "delete work items by id or external_id; a batch or an import with the same external_id restores an item",
    options: { ...EXTERNAL_ID_OPTION, "--dry-run": "show what would be deleted without deleting anything" },
    examples: ["delete T-1001 T-1002"],
    run: deleteItems,
  },
};
