import * as z from "zod";

/**
 * The page's policy forbids to make code of text, which zod would try. Schemas read this setting when they are made, so
 * this module must be the first that the page imports.
 */
export const { jitless: isWithoutEval = false } = z.config({ jitless: true });

/** What the service's own code, of which pages use a part, takes of Node's Buffer. */
const Buffer = { byteLength: (text: string): number => new TextEncoder().encode(text).length };
Object.assign(globalThis, { Buffer });
