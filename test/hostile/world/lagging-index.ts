import type { World } from "./world.ts";

const LAG_MAX_MS = 10 * 60_000;
const LAG_SHARE = 0.5;

interface Entry {
  readonly pk?: { readonly S?: string };
}

/**
 * Lets queries of the indexes leave out items that were written in the last minutes, up to ten of them: an index shows
 * a write at most that much later. The engine's own indexes are never behind.
 */
export function lagIndexes({ base, clock, random, hostilities }: World): void {
  const written = new Map<string, number>();
  const note = (value: unknown): void => {
    const text = typeof value === "string" ? value : (value as Entry["pk"])?.S;
    if (text?.startsWith("ITEM#")) written.set(text, clock());
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
          if (Responses?.[place]?.Error === undefined) Parameters.forEach(note);
      } else if (/^(Put|Update)Item/.test(command)) {
        const { Key, Item } = input as Record<string, { pk?: unknown }>;
        note((Key ?? Item)?.pk);
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
        const { output } = response as unknown as { output: { Items?: { listing_sk?: { S?: string } }[] } };
        const late = new Set([...written].filter(([, at]) => at > since).map(([key]) => key.split("#").at(-1)));
        const shown = output.Items?.filter(({ listing_sk: place }) => !late.has(place?.S?.split("#").at(-1)));
        if (shown?.length !== output.Items?.length) hostilities.count("lag");
        Object.assign(output, { Items: shown });
      }
      return response;
    },
    { step: "initialize", name: "lagIndexes", priority: "low" },
  );
}
