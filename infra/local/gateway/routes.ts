/** A method of the API and what serves it. */
export interface Endpoint<T> {
  readonly method: string;
  /** Resource path, for example `/v1/work_items/{id}`. */
  readonly path: string;
  readonly target: T;
}

/** What a request matches. */
export interface Match<T> {
  readonly resource: string;
  /** Percent-decoded. */
  readonly pathParameters: Readonly<Record<string, string>>;
  /** Undefined if the path, or its method, has none. */
  readonly target: T | undefined;
}

interface Node<T> {
  readonly path: string;
  readonly children: Map<string, Node<T>>;
  readonly methods: Map<string, T>;
}
interface Found<T> {
  readonly node: Node<T>;
  readonly parameters: readonly (readonly [string, string])[];
}

function nodeAt<T>(path: string): Node<T> {
  return { path, children: new Map(), methods: new Map() };
}

/** Finds a path's node. Static segments win over `{id}`; it backtracks from dead ends. */
function find<T>(node: Node<T>, [segment, ...rest]: readonly string[]): Found<T> | undefined {
  if (segment === undefined) return { node, parameters: [] };
  const exact = node.children.get(segment);
  const found = exact && find(exact, rest);
  if (found !== undefined || segment === "") return found;
  for (const [part, child] of node.children) {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    const below = name === undefined ? undefined : find(child, rest);
    if (name !== undefined && below) return { ...below, parameters: [[name, segment], ...below.parameters] };
  }
  return undefined;
}

/** Matches requests as API Gateway does. A `/` at the end of a path is ignored; `%2F` does not separate segments. */
export function createRouter<T>(endpoints: readonly Endpoint<T>[]) {
  const root = nodeAt<T>("/");
  for (const { method, path, target } of endpoints) {
    let node = root;
    for (const part of path.split("/").filter(Boolean)) {
      const child = node.children.get(part) ?? nodeAt<T>(`${node === root ? "" : node.path}/${part}`);
      node.children.set(part, child);
      node = child;
    }
    node.methods.set(method, target);
  }
  /** @param path as it was sent, without the query @returns "malformed" if the path cannot be percent-decoded */
  return (method: string, path: string): Match<T> | "malformed" => {
    const segments = path.split("/").slice(1);
    if (segments.at(-1) === "") segments.pop();
    const { node, parameters } = find(root, segments) ?? { parameters: [["proxy", segments.join("/")] as const] };
    try {
      return {
        resource: node?.path ?? "/{proxy+}",
        pathParameters: Object.fromEntries(parameters.map(([name, value]) => [name, decodeURIComponent(value)])),
        target: node?.methods.get(method),
      };
    } catch {
      return "malformed";
    }
  };
}
