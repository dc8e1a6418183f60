/** A header such as Content-Type or Content-Disposition: `type/subtype; name=value; name="quoted value"`. */
export interface MediaType {
  /** Lower case. */
  readonly type: string;
  /** By lower-case name. */
  readonly parameters: ReadonlyMap<string, string>;
}

const parameter = /;\s*(?:([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"]*)))?/y;

/** Parses such a header. @returns undefined if it is missing or malformed */
export function parseMediaType(header: string | undefined): MediaType | undefined {
  const type = /^\s*([^\s;,"]+)\s*/.exec(header ?? "");
  if (header === undefined || type === null) return undefined;
  const parameters = new Map<string, string>();
  parameter.lastIndex = type[0].length;
  while (parameter.lastIndex < header.length) {
    const match = parameter.exec(header);
    if (match === null) return undefined;
    const [, name, quoted, token] = match;
    if (name !== undefined)
      parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(["\\])/g, "$1") ?? token?.trim() ?? "");
    while (header[parameter.lastIndex] === " ") parameter.lastIndex += 1;
  }
  return { type: (type[1] ?? "").toLowerCase(), parameters };
}
