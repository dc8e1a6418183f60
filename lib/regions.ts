import * as z from "zod";

/**
 * All regional deployments by code. Each is a separate stack that shares nothing with the others. API keys, stack names and
 * host names contain the code, which has two lower-case letters. `awsRegion` is where a region is, unless the setting of that
 * name moves it.
 */
export const REGIONS = {
  us: { awsRegion: "us-east-1" },
  eu: { awsRegion: "eu-west-1" },
} as const satisfies Record<string, { readonly awsRegion: string }>;

export type RegionCode = keyof typeof REGIONS;

export const regionCodes = Object.keys(REGIONS) as [RegionCode, ...RegionCode[]];

/** `us or eu`, for messages and usage texts. */
export const regionCodesInWords = regionCodes.join(" or ");

/** Code of a region in commands and settings. */
export const regionCodeSchema = z.enum(regionCodes, `must be ${regionCodesInWords}`);

/** Id of a region's stack, which is also the name of its template. */
export function stackIdOf(region: RegionCode): string {
  return `WorkItems-${region}`;
}
