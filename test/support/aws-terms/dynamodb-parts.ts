import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Use } from "./capacity.ts";
import type { Faults } from "./faults.ts";
import type { JsonRequest } from "./json-proxy.ts";
import { createLaggingIndex, type LaggingIndex } from "./lagging-index.ts";
import { describeTable, type IndexDefinition, keyOf, type TableDefinition, textOf } from "./tables.ts";
import { kindOf, partitionIn, type TouchedItem, touchedItems } from "./touched-items.ts";

/** A table and its indexes as their readers see them, by name. */
interface Table extends TableDefinition {
  readonly lagging: ReadonlyMap<string, LaggingIndex>;
}

/** An item of a request, or the partition of a query, and the capacity that serving it uses. */
export interface Part extends TouchedItem {
  /** Undefined if the table does not exist. */
  readonly definition: Table | undefined;
  /** Identifies the item over all tables. */
  readonly item: string;
  /** That of the table first, or of the index that is queried; then those of the indexes that a write changes. */
  readonly uses: readonly Use[];
  /** Whether it is written and an index that it changes cannot follow. */
  readonly isIndexBehind: boolean;
}

/** Whether a write may change the entry of its item in an index. */
function mayChange({ partition, sort = "", projection = [""] }: IndexDefinition, { text }: TouchedItem): boolean {
  return [partition, sort, ...projection].some((attribute) => text.includes(attribute));
}

/** What a write uses of an index: it waits for the index (.../developerguide/gsi-throttling.html). */
function indexUsesOf({ lagging, ...table }: Table, touched: TouchedItem): Use[] {
  return table.indexes
    .filter((index) => mayChange(index, touched))
    .flatMap((index) => {
      const given = partitionIn(index, touched.attributes);
      const partition = given === "" ? lagging.get(index.name)?.partitionOf(keyOf(table, touched.attributes)) : given;
      return partition ? [{ resource: table.name, index: index.name, partition, kind: "write" as const }] : [];
    });
}

function usesOf(table: Table, touched: TouchedItem, kind: Use["kind"], indexName: unknown): Use[] {
  const { name: resource, indexes } = table;
  const index = indexes.find(({ name }) => name === indexName);
  const partition = partitionIn(index ?? table, touched.attributes);
  const own: Use = { resource, ...(index && { index: index.name }), partition, kind };
  return kind === "write" ? [own, ...indexUsesOf(table, touched)] : [own];
}

function isIndexBehind({ indexes, lagging }: Table, touched: TouchedItem): boolean {
  return indexes.some((index) => mayChange(index, touched) && lagging.get(index.name)?.isBehind());
}

/** Shows written items in the indexes whose entries may have changed. */
export function followWrites(parts: readonly Part[]): void {
  for (const part of parts) {
    const { definition, attributes } = part;
    for (const index of definition?.indexes ?? []) {
      if (definition && mayChange(index, part))
        definition.lagging.get(index.name)?.follow(keyOf(definition, attributes));
    }
  }
}

/** Finds out what requests read and write. A table's lagging indexes are made when it is first used. */
export function createParts(engine: DynamoDBClient, faults: Faults) {
  const tables = new Map<string, Promise<Table | undefined>>();

  const openTable = async (name: string): Promise<Table | undefined> => {
    const definition = await describeTable(engine, name).catch(() => undefined);
    if (definition === undefined) return undefined;
    const lagging = new Map<string, LaggingIndex>();
    for (const index of definition.indexes) {
      lagging.set(index.name, await createLaggingIndex(engine, definition, index, faults));
    }
    return { ...definition, lagging };
  };
  const tableOf = async (name: string): Promise<Table | undefined> => {
    const opening = tables.get(name) ?? openTable(name);
    tables.set(name, opening);
    const table = await opening;
    // It may be created later.
    if (table === undefined) tables.delete(name);
    return table;
  };

  return {
    partsOf: ({ operation, input }: JsonRequest): Promise<Part[]> =>
      Promise.all(
        touchedItems(operation, input).map(async (touched) => {
          const definition = await tableOf(touched.table);
          const key = definition ? textOf(keyOf(definition, touched.attributes)) : "";
          const kind = kindOf(operation);
          return {
            ...touched,
            definition,
            item: `${touched.table} ${key}`,
            uses: definition ? usesOf(definition, touched, kind, input["IndexName"]) : [],
            isIndexBehind: definition !== undefined && kind === "write" && isIndexBehind(definition, touched),
          };
        }),
      ),
    /** Waits until all indexes show all writes. */
    indexesSettled: async (): Promise<void> => {
      for (const table of await Promise.all(tables.values())) {
        await Promise.all([...(table?.lagging.values() ?? [])].map((index) => index.settled()));
      }
    },
  };
}
