import type { RegionSettings } from "./stage-settings.ts";

/** Tags of a stack by name. */
export type StackTags = Readonly<Record<string, string>>;

/** Value of a tag for a setting that is a switch, or whose value is private. */
const SET = "yes";

/** Values that each have a tag. A number may grow, but not become smaller. */
type KeptValues = (settings: RegionSettings) => readonly (string | number)[];

function whether(on: boolean): readonly string[] {
  return on ? [SET] : [];
}
function ifGiven<T extends string | number>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

/**
 * The values of each setting, by the name of its tag, which `--drop` takes too. All settings of a stage are here, except
 * `alarms`, which adds nothing, and `account` and `awsRegion`, in which the stack is another one.
 */
const KEPT = {
  domain: ({ domain }) => ifGiven(domain?.host),
  // Without its zone, the domain loses its alias record.
  zone: ({ domain }) => ifGiven(domain?.zone),
  // Tags don't contain personal data.
  alarmEmail: ({ alarmEmail }) => whether(alarmEmail !== undefined),
  alarmTopic: ({ alarmTopic }) => ifGiven(alarmTopic),
  backup: ({ backup }) => ifGiven(backup?.vault),
  backupDays: ({ backup }) => ifGiven(backup?.days),
  concurrency: ({ concurrency }) => whether(Object.keys(concurrency).length > 0),
  customerKey: ({ customerKey }) => whether(customerKey),
  gatewayLogRole: ({ gatewayLogRole }) => ifGiven(gatewayLogRole),
  allowedOrigins: ({ allowedOrigins }) => allowedOrigins,
  // A firewall that only counts protects nothing.
  firewall: ({ firewall }) => whether(firewall === true),
  firewallRate: ({ firewallRate }) => [firewallRate],
  stream: ({ stream }) => ifGiven(stream),
  smallAccount: ({ smallAccount }) => whether(smallAccount),
  terminationProtection: ({ terminationProtection }) => whether(terminationProtection),
  ticketEmail: ({ ticketEmail }) => whether(ticketEmail !== undefined),
  logDays: ({ logDays }) => [logDays],
  throttleReads: ({ throttle }) => [throttle.reads],
  throttleWrites: ({ throttle }) => [throttle.writes],
  throttleUploads: ({ throttle }) => [throttle.uploads],
  throttlePages: ({ throttle }) => [throttle.pages],
} as const satisfies Record<string, KeptValues>;

/** Name of a setting that a deployment can lose. */
export type KeptSetting = keyof typeof KEPT;
/** Names of the settings that a deployment can lose. */
export const keptSettings = Object.keys(KEPT) as KeptSetting[];

/** CloudFormation's tag values have at most 256 characters and no commas, so each value has its own tag. */
function tagName(setting: string, index: number): string {
  return index === 0 ? setting : `${setting}.${index + 1}`;
}

/** The tags that show a later deployment what this one has deployed. */
export function tagsOf(settings: RegionSettings): StackTags {
  return {
    service: "work-items",
    stage: settings.stage,
    ...Object.fromEntries(
      keptSettings.flatMap((name) =>
        KEPT[name](settings).map((value, index) => [tagName(name, index), String(value)] as const),
      ),
    ),
  };
}

function deployedValues(tags: StackTags, setting: KeptSetting): readonly string[] {
  return Object.entries(tags)
    .filter(([name]) => name.split(".", 1)[0] === setting)
    .map(([, value]) => value);
}

/** A deployed setting that a deployment would drop or lower. */
export interface Loss {
  readonly setting: KeptSetting;
  /** What would be lost, in words. */
  readonly description: string;
}

/** What a deployment of these settings would remove from the stack with these tags. */
export function lossesOf(tags: StackTags, settings: RegionSettings): readonly Loss[] {
  return keptSettings.flatMap((setting) => {
    const next = KEPT[setting](settings);
    return deployedValues(tags, setting).flatMap((value): Loss[] => {
      const [number] = next;
      if (typeof number === "number") {
        return Number(value) <= number ? [] : [{ setting, description: `lower ${setting} from ${value} to ${number}` }];
      }
      if ((next as readonly string[]).includes(value)) return [];
      return [{ setting, description: value === SET ? `drop ${setting}` : `drop ${setting} ${value}` }];
    });
  });
}
