import * as z from "zod";
import type { ResolvedTemplate } from "../template.ts";

/** The function that a method of the API invokes. */
interface Integration {
  readonly resourcePath: string;
  readonly resourceId: string;
  readonly functionName: string;
}

/** The integration that a request matches, with its percent-decoded path parameters. */
export type Match = { readonly integration: Integration; readonly pathParameters: Readonly<Record<string, string>> };

/** Finds the integration of a request. */
export interface GatewayRoutes {
  /**
   * @param path as it was sent, without the query
   * @returns "malformed" if the path cannot be percent-decoded
   */
  match(method: string, path: string): Match | undefined | "malformed";
}

const resourceSchema = z.object({ ParentId: z.string(), PathPart: z.string() });
const methodSchema = z.object({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  Integration: z.object({ Type: z.literal("AWS_PROXY"), Uri: z.string() }),
});

interface Node {
  readonly path: string;
  readonly children: Map<string, Node>;
  readonly methods: Map<string, Integration>;
}

const FUNCTION_IN_URI = /function:([^:/]+)\/invocations$/;
function nodeAt(path: string): Node {
  return { path, children: new Map(), methods: new Map() };
}

/** The API's resources as a tree. */
function treeOf(template: ResolvedTemplate): Node {
  const resources = template.resourcesOf("AWS::ApiGateway::Resource", resourceSchema);
  const root = nodeAt("/");
  const nodes = new Map<string, Node>();
  const node = (id: string): Node => {
    const known = nodes.get(id);
    if (known !== undefined) return known;
    const resource = resources.get(id);
    if (resource === undefined) return root;
    const parent = node(resource.ParentId);
    const child = nodeAt(`${parent.path === "/" ? "" : parent.path}/${resource.PathPart}`);
    parent.children.set(resource.PathPart, child);
    nodes.set(id, child);
    return child;
  };
  for (const id of resources.keys()) node(id);
  for (const method of template.resourcesOf("AWS::ApiGateway::Method", methodSchema).values()) {
    const functionName = FUNCTION_IN_URI.exec(method.Integration.Uri)?.[1];
    const { path, methods } = node(method.ResourceId);
    if (functionName !== undefined) {
      methods.set(method.HttpMethod, { resourcePath: path, resourceId: method.ResourceId, functionName });
    }
  }
  return root;
}

interface FoundNode {
  readonly node: Node;
  readonly parameters: readonly (readonly [string, string])[];
}

/** Finds a path's node. Static segments win over `{id}`, which wins over `{proxy+}`; it backtracks from dead ends. */
function find(node: Node, segments: readonly string[]): FoundNode | undefined {
  const [segment, ...rest] = segments;
  if (segment === undefined) return { node, parameters: [] };
  const exact = node.children.get(segment);
  const found = exact && find(exact, rest);
  if (found !== undefined) return found;
  for (const [pathPart, child] of node.children) {
    const name = /^\{([^+}]+)\}$/.exec(pathPart)?.[1];
    const below = name !== undefined && segment !== "" ? find(child, rest) : undefined;
    if (name !== undefined && below !== undefined)
      return { ...below, parameters: [[name, segment], ...below.parameters] };
  }
  for (const [pathPart, child] of node.children) {
    const name = /^\{(.+)\+\}$/.exec(pathPart)?.[1];
    if (name !== undefined) return { node: child, parameters: [[name, segments.join("/")]] };
  }
  return undefined;
}

/** Routes of the template's one REST API. A `/` at the end of a path is ignored; `%2F` does not separate segments. */
export function gatewayRoutes(template: ResolvedTemplate): GatewayRoutes {
  const root = treeOf(template);
  return {
    match: (method, path) => {
      const segments = path.split("/").slice(1);
      if (segments.at(-1) === "") segments.pop();
      const found = find(root, segments);
      const integration = found?.node.methods.get(method) ?? found?.node.methods.get("ANY");
      if (found === undefined || integration === undefined) return undefined;
      try {
        const decoded = found.parameters.map(([name, value]) => [name, decodeURIComponent(value)] as const);
        return { integration, pathParameters: Object.fromEntries(decoded) };
      } catch {
        return "malformed";
      }
    },
  };
}
