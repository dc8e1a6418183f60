import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

export type Item = Record<string, unknown> & { readonly pk: string; readonly sk: string };
export type Table = Map<string, Item>;

/** What the commands that the model carries out give to requests. */
interface Input {
  readonly TableName: string;
  readonly Key: Item;
  readonly Item: Item;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly Segment?: number;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: { readonly at: number };
  readonly RequestItems: Readonly<Record<string, never>>;
  readonly TransactItems: readonly Partial<Record<"Put" | "Delete" | "Update" | "ConditionCheck", Input>>[];
}
type Answer = (input: Input) => object;

/** Records of a page of a scan: few, so that what belongs together comes in several. */
const PAGE = 3;
export const keyOf = ({ pk, sk }: Item): string => `${pk}\n${sk}`;

/**
 * The tables of a model in memory, behind a client: the few forms of requests that erasures use, so that thousands of
 * histories take seconds.
 */
export class MemoryTables {
  readonly tables = new Map<string, Table>();
  /** Requests until the program that sends them dies: the next one never gets a response, and isn't carried out. */
  requestsLeft = Infinity;
  /** Called when the program dies. */
  onDeath: () => void = () => undefined;

  /** A client, as the service and operators have one. */
  readonly client = Object.assign(Object.create(DynamoDBDocumentClient.prototype) as DynamoDBDocumentClient, {
    send: async (command: { readonly input: object }): Promise<object> => {
      if (this.requestsLeft-- <= 0) {
        this.onDeath();
        return new Promise(() => undefined);
      }
      const { name } = command.constructor;
      const answer = this.#answers[name];
      if (answer === undefined) throw new Error(`the model's tables don't know ${name}`);
      return answer(structuredClone(command.input) as Input);
    },
  });

  table(name: string): Table {
    const table = this.tables.get(name) ?? new Map<string, Item>();
    this.tables.set(name, table);
    return table;
  }

  #holds({ TableName, Key, Item, ConditionExpression = "", ...input }: Input): boolean {
    const stored = this.table(TableName).get(keyOf(Key ?? Item));
    const nameOf = (alias: string): string => input.ExpressionAttributeNames?.[alias] ?? alias;
    return ConditionExpression.split(" AND ").every((text) => {
      const [, absent] = /^attribute_not_exists\((.*)\)$/.exec(text) ?? [];
      if (absent !== undefined) return stored?.[nameOf(absent)] === undefined;
      const [name = "", value = ""] = text.split(" = ");
      return text === "" || stored?.[nameOf(name)] === input.ExpressionAttributeValues?.[value];
    });
  }

  #change(kind: string, { TableName, Key, Item, UpdateExpression = "", ...input }: Input): void {
    const table = this.table(TableName);
    if (kind === "Put") table.set(keyOf(Item), JSON.parse(JSON.stringify(Item)) as Item);
    if (kind === "Delete") table.delete(keyOf(Key));
    if (kind !== "Update") return;
    const next: Record<string, unknown> & Item = { ...table.get(keyOf(Key)), ...Key };
    const [sets = "", removes = ""] = UpdateExpression.replace(/^SET /, "").split(/ ?REMOVE /);
    const nameOf = (alias: string): string => input.ExpressionAttributeNames?.[alias] ?? alias;
    for (const set of sets.split(", ").filter(Boolean)) {
      const [name = "", value = ""] = set.split(" = ");
      next[nameOf(name)] = input.ExpressionAttributeValues?.[value];
    }
    for (const name of removes.split(", ").filter(Boolean)) delete next[nameOf(name)];
    table.set(keyOf(Key), next);
  }

  #write(kind: string): Answer {
    return (input) => {
      if (!this.#holds(input)) throw Object.assign(new Error(kind), { name: "ConditionalCheckFailedException" });
      this.#change(kind, input);
      return {};
    };
  }

  readonly #answers: Readonly<Record<string, Answer>> = {
    GetCommand: ({ TableName, Key }) => ({ Item: this.table(TableName).get(keyOf(Key)) }),
    PutCommand: this.#write("Put"),
    DeleteCommand: this.#write("Delete"),
    UpdateCommand: this.#write("Update"),
    QueryCommand: ({ TableName, ExpressionAttributeValues }) => {
      const own = [...this.table(TableName).values()].filter(({ pk }) => pk === ExpressionAttributeValues?.[":pk"]);
      return { Items: own.toSorted((a, b) => (a.sk < b.sk ? -1 : 1)) };
    },
    ScanCommand: ({ TableName, Segment, ExclusiveStartKey: { at } = { at: 0 } }) => {
      if (Segment !== 0) return { Items: [] };
      const all = [...this.table(TableName).values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      // Deletions between pages move nothing: a key says where the next page begins.
      const Items = all.filter((item) => keyOf(item) > String(at || "")).slice(0, PAGE);
      const last = Items.at(-1);
      return { Items, ...(last && Items.length === PAGE && { LastEvaluatedKey: { at: keyOf(last) } }) };
    },
    BatchGetItemCommand: ({ RequestItems }) => {
      const [[name, { Keys }] = ["", { Keys: [] }]] = Object.entries<{ readonly Keys: never[] }>(RequestItems);
      const found = Keys.flatMap((key) => this.table(name).get(keyOf(unmarshall(key) as Item)) ?? []);
      return { Responses: { [name]: found.map((item) => marshall(item, { removeUndefinedValues: true })) } };
    },
    BatchWriteCommand: ({ RequestItems }) => {
      for (const [TableName, requests] of Object.entries<{ readonly DeleteRequest: Input }[]>(RequestItems)) {
        for (const { DeleteRequest } of requests) this.#change("Delete", { ...DeleteRequest, TableName });
      }
      return {};
    },
    TransactWriteCommand: ({ TransactItems }) => {
      const writes = TransactItems.flatMap((each) => Object.entries(each));
      if (!writes.every(([, input]) => this.#holds(input))) {
        const CancellationReasons = writes.map(() => ({ Code: "ConditionalCheckFailed" }));
        throw Object.assign(new Error(), { name: "TransactionCanceledException", CancellationReasons });
      }
      for (const [kind, input] of writes) this.#change(kind, input);
      return {};
    },
  };
}
