/** A method of the API and what serves it. */
export interface Endpoint<T> {
  readonly method: string;
  /** Resource path, for example `/v1/work_items/{id}`. */
  readonly path: string;
  readonly target: T;
}

/** A resource path and all above it. */
function resourcesIn(path: string): string[] {
  const parts = path.split("/").slice(1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

/** Matches requests as API Gateway does. A `/` at the end of a path is ignored; `%2F` doesn't separate segments. */
export function createRouter<T>(endpoints: readonly Endpoint<T>[]) {
  const targets = new Map(endpoints.map(({ method, path, target }) => [`${method} ${path}`, target]));
  // Fixed segments come before parameters: "{" sorts after letters.
  const resources = [...new Set(["/", ...endpoints.flatMap(({ path }) => resourcesIn(path))])].toSorted();
  const patterns = resources.map((resource) => ({
    resource,
    pattern: new RegExp(
      `^${resource
        .replaceAll(".", String.raw`\.`)
        .replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")
        .replace(/\{(\w+)\+\}/, "(?<$1>.+)")}$`,
    ),
  }));
  /** @param path as it was sent, without the query @returns "malformed" if the path can't be percent-decoded */
  return (method: string, path: string) => {
    const asked = path.replace(/(?<=[^/])\/$/, "");
    const { resource, pattern } = patterns.find((each) => each.pattern.test(asked)) ?? {
      resource: "/{proxy+}",
      pattern: /^\/(?<proxy>.*)$/,
    };
    try {
      const parameters = Object.entries({ ...pattern.exec(asked)?.groups });
      return {
        resource,
        pathParameters: Object.fromEntries(parameters.map(([name, value]) => [name, decodeURIComponent(value)])),
        /** Undefined if no endpoint has this path and method. */
        target: targets.get(`${method} ${resource}`),
      };
    } catch {
      return "malformed";
    }
  };
}
