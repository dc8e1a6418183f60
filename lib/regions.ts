import * as z from "zod";

/** One regional deployment: a stack of its own, which shares nothing with the others. */
export interface Region {
  /** The AWS region that the stack is deployed to. */
  readonly awsRegion: string;
}

/** Every region by its code: two lower-case letters that stand in API keys, in names of stacks and in host names. */
export const REGIONS = {
  us: { awsRegion: "us-east-1" },
  eu: { awsRegion: "eu-west-1" },
} as const satisfies Record<string, Region>;

export type RegionCode = keyof typeof REGIONS;

export const regionCodes = Object.keys(REGIONS) as [RegionCode, ...RegionCode[]];

/** `us or eu`, for messages and usage texts. */
export const regionCodesInWords = regionCodes.join(" or ");

export const regionCodeSchema = z.enum(regionCodes, `must be ${regionCodesInWords}`);

/** Name of a region's stack, and of its template. */
export const stackNameOf = (region: RegionCode): string => `WorkItems-${region}`;
