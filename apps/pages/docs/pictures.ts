import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Pictures of the import page, each also as it is in dark mode. `test/proofs/pages/pictures.test.ts` takes them. */
export const PICTURES = fileURLToPath(new URL("../../../docs/pictures", import.meta.url));

/** A picture as it is served. */
interface Picture {
  /** The name of its asset, which changes with its content. */
  readonly asset: string;
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Reads a WebP file in the extended form, which browsers write and which has its size in the first bytes. */
function readPicture(file: string): Picture {
  const bytes = readFileSync(join(PICTURES, file));
  if (bytes.toString("latin1", 8, 16) !== "WEBPVP8X") throw new Error(`${file} isn't an extended WebP file`);
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
  const asset = `${basename(file, extname(file))}-${digest}${extname(file)}`;
  return { asset, bytes, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}

const pictures = new Map(
  (existsSync(PICTURES) ? readdirSync(PICTURES) : []).map((file) => [file, readPicture(file)] as const),
);

/** The picture to which a document links; undefined if the link leads elsewhere, or the picture was never taken. */
export function pictureOf(href: string): Picture | undefined {
  return pictures.get(/(?:^|\/)pictures\/([\w-]+\.webp)$/.exec(href)?.[1] ?? "");
}

export function allPictures(): readonly Picture[] {
  return [...pictures.values()];
}
