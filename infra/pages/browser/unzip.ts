export { strFromU8 } from "fflate";
import { type UnzipCallback, unzipSync } from "fflate";

/**
 * Takes the place of fflate's function of the same name in the reader of workbooks. That one unpacks larger files in
 * workers whose code it makes itself, which the page's policy forbids.
 */
export function unzip(archive: Uint8Array, done: UnzipCallback): void {
  try {
    done(null, unzipSync(archive));
  } catch (error) {
    done(error as Parameters<UnzipCallback>[0], {});
  }
}
