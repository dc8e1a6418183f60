import type { World } from "./world.ts";

/** An index shows a write at most so much later. */
export const LAG_MAX_MS = 10 * 60_000;
const LAG_SHARE = 0.5;

type Text = string | { readonly S?: string } | undefined;
function textOf(value: unknown): string {
  return typeof value === "string" ? value : ((value as Exclude<Text, string>)?.S ?? "");
}
function idIn(key: string): string {
  return key.slice(key.lastIndexOf("#") + 1);
}

/**
 * Lets queries of the indexes leave out items that were written, and jobs that were created, in the last minutes. The engine's
 * own indexes are never behind.
 */
export function lagIndexes({ base, clock, random, hostilities }: World): void {
  const written = new Map<string, number>();
  const note = (value: unknown, kind = "ITEM#"): void => {
    const text = textOf(value);
    if (text.startsWith(kind)) written.set(idIn(text), clock());
  };
  const stack = base.dynamodb.middlewareStack;
  stack.add(
    (next, context) => async (parameters) => {
      const command = String(context.commandName);
      const input = parameters.input as unknown as Record<string, unknown>;
      const response = await next(parameters);
      if (command === "BatchExecuteStatementCommand") {
        const { Statements } = input as { Statements: { Parameters: unknown[] }[] };
        const { Responses } = response.output as { Responses?: { Error?: unknown }[] };
        // One that was refused has written nothing.
        for (const [place, { Parameters }] of Statements.entries())
          if (Responses?.[place]?.Error === undefined) Parameters.forEach((each) => note(each));
      } else if (/^(Put|Update)Item/.test(command)) {
        const { Key, Item } = input as Record<string, { pk?: unknown; sk?: unknown }>;
        note((Key ?? Item)?.pk);
        if (textOf(Item?.sk) === "#JOB") note(Item?.pk, "UPLOAD#");
      } else if (command === "TransactWriteItemsCommand") {
        const actions = (input as { TransactItems: Record<string, Record<string, { pk?: unknown }>>[] }).TransactItems;
        for (const action of actions.flatMap(Object.values)) note((action["Key"] ?? action["Item"])?.pk);
      }
      if (
        command === "QueryCommand" &&
        input["IndexName"] !== undefined &&
        hostilities.has("lag") &&
        random() < LAG_SHARE
      ) {
        const since = clock() - Math.floor(random() * LAG_MAX_MS);
        const { output } = response as unknown as { output: { Items?: Record<string, Text>[] } };
        const late = new Set([...written].filter(([, at]) => at > since).map(([id]) => id));
        const shown = output.Items?.filter((entry) => !late.has(idIn(textOf(entry["listing_sk"] ?? entry["open_sk"]))));
        if (shown?.length !== output.Items?.length) hostilities.count("lag");
        Object.assign(output, { Items: shown });
      }
      return response;
    },
    { step: "initialize", name: "lagIndexes", priority: "low" },
  );
}
