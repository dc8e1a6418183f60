import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as z from "zod";

/** The name of the file that lists all others. */
export const INDEX_FILE = "index.json";

const indexSchema = z.object({
  /** Files of HTML by their paths, such as `/docs`. */
  pages: z.record(z.string(), z.string()),
  /** Media types of the assets by their names, which change with their content. */
  assets: z.record(z.string(), z.string()),
});
/** The content of `INDEX_FILE`. */
export type PageIndex = z.output<typeof indexSchema>;

/** How an asset may be compressed, in the order of preference, and what its file's name ends with. */
export const CODINGS = { br: ".br", gzip: ".gz" } as const;
/** A content coding of HTTP. */
type Coding = keyof typeof CODINGS;

/** A file as it is sent. */
export interface Asset {
  readonly mediaType: string;
  /** Undefined if it is not compressed. */
  readonly coding: Coding | undefined;
  readonly bytes: Buffer;
}

/** Opens the pages and assets that the build wrote. Each file is read when it is first asked for, and kept. */
export function openPageFiles(directory: string) {
  const read = new Map<string, Buffer>();
  const fileAt = (name: string): Buffer => {
    const known = read.get(name);
    if (known) return known;
    const bytes = readFileSync(join(directory, name));
    read.set(name, bytes);
    return bytes;
  };
  const { pages, assets } = indexSchema.parse(JSON.parse(fileAt(INDEX_FILE).toString()));
  return {
    /** The HTML of a page, undefined if there is none. In it `{{root}}` is the way to the service's root, `{{base_url}}` its address. */
    page: (path: string): string | undefined =>
      Object.hasOwn(pages, path) ? fileAt(pages[path]!).toString() : undefined,
    /** @param accepted whether the client accepts a coding @returns undefined if there is no such asset */
    asset: (name: string, accepted: (coding: Coding) => boolean): Asset | undefined => {
      if (!Object.hasOwn(assets, name)) return undefined;
      const mediaType = assets[name]!;
      const coding = (Object.keys(CODINGS) as Coding[]).find(accepted);
      return coding === undefined
        ? { mediaType, coding, bytes: gunzipSync(fileAt(name + CODINGS.gzip)) }
        : { mediaType, coding, bytes: fileAt(name + CODINGS[coding]) };
    },
  };
}
/** The pages and their assets. */
export type PageFiles = ReturnType<typeof openPageFiles>;
