import * as z from "zod";
import { Buffer } from "./buffer.ts";

/**
 * The page's policy forbids to make code of text, which zod would try. Schemas read this setting when they are made, so
 * this module must be the first that the page imports.
 */
export const { jitless: isWithoutEval = false } = z.config({ jitless: true });

Object.assign(globalThis, { Buffer });
