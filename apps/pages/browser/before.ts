import * as z from "zod";

/**
 * Without this setting zod would generate code, which the page's policy forbids. Schemas read the setting when they are created,
 * so the page must import this module first.
 */
export const { jitless: isWithoutEval = false } = z.config({ jitless: true });

// The other browsers of `build-pages.ts` can do it.
if (!("rawJSON" in JSON)) await import("./older-browser.ts");

/** What the service's code in the page needs of Node's Buffer. */
const Buffer = { byteLength: (text: string): number => new TextEncoder().encode(text).length };
Object.assign(globalThis, { Buffer });
