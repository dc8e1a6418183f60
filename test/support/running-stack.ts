import type { IncomingMessage } from "node:http";

interface EventSource {
  State: string;
  /** In seconds. */
  LastModified: number;
}

/** What of an account's stacks is on: rules, event sources and functions, as EventBridge and Lambda are asked for them. */
export const createRunningStack = (clock: () => number) => {
  const rules = new Map<string, string>();
  const sources = new Map<string, EventSource>();
  const concurrency = new Map<string, number>();
  const actions = new Set<string>();
  const sourceOf = (uuid: string): EventSource => {
    const source = sources.get(uuid) ?? { State: "Enabled", LastModified: 0 };
    sources.set(uuid, source);
    return source;
  };
  const describe = (uuid: string): object => {
    const source = sourceOf(uuid);
    const answer = { UUID: uuid, ...source };
    // It is seen once in between.
    const next = { Disabling: "Disabled", Enabling: "Enabled" }[source.State];
    if (next !== undefined) Object.assign(source, { State: next, LastModified: clock() / 1000 });
    return answer;
  };
  /** @returns the answer, if it was asked for one */
  const answer = ({ headers, method = "", url = "" }: IncomingMessage, body: string): object | undefined => {
    const event = /^AWSEvents\.((?:En|Dis)ableRule)$/.exec(String(headers["x-amz-target"]))?.[1];
    if (event !== undefined) {
      actions.add(`events:${event}`);
      rules.set((JSON.parse(body) as { Name: string }).Name, event === "EnableRule" ? "ENABLED" : "DISABLED");
      return {};
    }
    const uuid = /^\/2015-03-31\/event-source-mappings\/([^/]+)$/.exec(url)?.[1];
    if (uuid !== undefined) {
      actions.add(`lambda:${method === "GET" ? "Get" : "Update"}EventSourceMapping`);
      if (method === "GET") return describe(uuid);
      sourceOf(uuid).State = (JSON.parse(body) as { Enabled: boolean }).Enabled ? "Enabling" : "Disabling";
      return { UUID: uuid, ...sourceOf(uuid) };
    }
    const name = /^\/20\d\d-\d\d-\d\d\/functions\/([^/]+)\/concurrency$/.exec(url)?.[1];
    if (name === undefined) return undefined;
    actions.add(`lambda:${{ GET: "Get", PUT: "Put", DELETE: "Delete" }[method]}FunctionConcurrency`);
    if (method === "DELETE") concurrency.delete(name);
    if (method === "PUT")
      concurrency.set(
        name,
        (JSON.parse(body) as { ReservedConcurrentExecutions: number }).ReservedConcurrentExecutions,
      );
    return { ReservedConcurrentExecutions: concurrency.get(name) };
  };
  return { rules, sources, concurrency, actions, answer };
};
