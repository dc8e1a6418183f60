/** Called for each token: an element opens, text, an element closes. */
export interface XmlReader {
  /** @param name without its prefix */
  readonly open: (name: string, attribute: (name: string) => string | undefined) => void;
  readonly text: (text: string) => void;
  readonly close: (name: string) => void;
}

const TOKEN =
  /<!\[CDATA\[([^]*?)\]\]>|<!--[^]*?-->|<[!?][^>]*>|<(\/?)(?:[^\s/>:]+:)?([^\s/>:]+)((?:[^>"']|"[^"]*"|'[^']*')*?)(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([^\s:=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi,
    (whole: string, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : whole;
    },
  );
}

/** The value of an attribute of a tag. Ignores the prefix of its name. */
function attributeOf(attributes: string, name: string): string | undefined {
  for (const [, found, double, single] of attributes.matchAll(ATTRIBUTE)) {
    if (found === name) return decode(double ?? single ?? "");
  }
  return undefined;
}

/** Reads XML as in workbooks. @throws SyntaxError if it isn't XML */
export function readXml(xml: string, { open, text, close }: XmlReader): void {
  let at = xml.startsWith("\uFEFF") ? 1 : 0;
  while (at < xml.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(xml);
    if (found === null) throw new SyntaxError(`no XML at ${at}`);
    at = TOKEN.lastIndex;
    const [, cdata, end, name, attributes = "", isEmpty, characters] = found;
    if (characters !== undefined) text(decode(characters.replaceAll(/\r\n?/g, "\n")));
    else if (cdata !== undefined) text(cdata.replaceAll(/\r\n?/g, "\n"));
    else if (name !== undefined && end === "/") close(name);
    else if (name !== undefined) {
      open(name, (each) => attributeOf(attributes, each));
      if (isEmpty === "/") close(name);
    }
  }
}
