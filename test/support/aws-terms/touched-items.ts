import type { JsonBody } from "./json-proxy.ts";
import type { Item, KeyNames } from "./tables.ts";

/** One item that a request writes or reads by its key. */
export interface TouchedItem {
  readonly table: string;
  /** The attributes that the request gives: the key, and for writes the new values. */
  readonly attributes: Item;
  /** Everything that the request says of it, as text: the names of all attributes that it changes are in it. */
  readonly text: string;
}

interface Expressions {
  readonly TableName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  readonly UpdateExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}
interface Statement {
  readonly Statement: string;
  readonly Parameters?: readonly Item[string][];
}

/** The attributes that an expression sets equal to given values. */
function equalitiesIn(expression: string, { ExpressionAttributeNames, ExpressionAttributeValues }: Expressions): Item {
  return Object.fromEntries(
    [...expression.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)].flatMap(([, name = "", value = ""]) => {
      const given = ExpressionAttributeValues?.[value];
      return given ? [[ExpressionAttributeNames?.[name] ?? name, given]] : [];
    }),
  );
}

function touchedBy(action: Expressions): TouchedItem {
  return {
    table: action.TableName ?? "",
    attributes: { ...equalitiesIn(action.UpdateExpression ?? "", action), ...(action.Key ?? action.Item) },
    text: JSON.stringify(action),
  };
}

/** PartiQL with parameters: `INSERT INTO "T" VALUE {'pk': ?}`, `UPDATE "T" SET "a" = ? WHERE "pk" = ?`. */
function touchedByStatement({ Statement, Parameters = [] }: Statement): TouchedItem {
  const [, table = ""] = /(?:INTO|UPDATE|FROM)\s+"([^"]+)"/i.exec(Statement) ?? [];
  const names = [...Statement.matchAll(/["'](\w+)["']\s*[:=]\s*\?/g)].map(([, name = ""]) => name);
  return {
    table,
    attributes: Object.fromEntries(
      names.flatMap((name, index) => (Parameters[index] ? [[name, Parameters[index]]] : [])),
    ),
    text: Statement,
  };
}

const READS = ["GetItem", "BatchGetItem", "Query", "Scan"];

/** Whether an operation on items reads or writes them. */
export function kindOf(operation: string): "read" | "write" {
  return READS.includes(operation) ? "read" : "write";
}

/** The items that a request reads or writes by their keys, in its order; of a query, its partition. */
export function touchedItems(operation: string, input: JsonBody): readonly TouchedItem[] {
  if (operation === "BatchGetItem") {
    return Object.entries(input["RequestItems"] as Record<string, { Keys: Item[] }>).flatMap(([table, { Keys }]) =>
      Keys.map((attributes) => ({ table, attributes, text: "" })),
    );
  }
  if (operation === "TransactWriteItems") {
    return (input["TransactItems"] as Record<string, Expressions>[]).flatMap((action) =>
      Object.values(action).map(touchedBy),
    );
  }
  if (operation === "BatchExecuteStatement") return (input["Statements"] as Statement[]).map(touchedByStatement);
  if (operation === "Query") {
    const query: Expressions = input;
    const attributes = equalitiesIn(query.KeyConditionExpression ?? "", query);
    return [{ table: query.TableName ?? "", attributes, text: "" }];
  }
  return [touchedBy(input)];
}

/** The partition key value of an item, as text; empty if the request does not give it. */
export function partitionIn({ partition }: Pick<KeyNames, "partition">, attributes: Item): string {
  return attributes[partition] === undefined ? "" : JSON.stringify(attributes[partition]);
}
