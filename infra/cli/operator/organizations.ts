import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Administration,
  getOrganization,
  listOrganizations,
  putOrganization,
} from "../../../lib/operator/administration.ts";
import { growListingShards } from "../../../lib/operator/listing-shards.ts";
import {
  BURST_MAX,
  LISTING_SHARDS_MAX,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_MAX,
} from "../../../lib/organizations/organization.ts";
import {
  COMMON_USAGE,
  commonOptions,
  existingOrganization,
  openAdministration,
  type OpenedAdministration,
  organizationId,
  runCommand,
  UsageError,
} from "./administration.ts";
import { erase } from "./erase.ts";
import { operatorRuntime } from "./operator-runtime.ts";
import { variablesOf } from "./stack-variables.ts";
import { exportTo, importFrom } from "./transfer.ts";

const USAGE = `usage: npm run organizations -- list
       npm run organizations -- show acme
       npm run organizations -- set acme [--rate 200] [--burst 400] [--listing-shards 8] [--create]
       npm run organizations -- export acme [--file acme.ndjson] [--items-table <restored table>]
       npm run organizations -- import acme [--file acme.ndjson] [--replace] [--dry-run]
       npm run organizations -- erase acme [--item <external_id> | --person <e-mail>] [--dry-run] [--yes]
${COMMON_USAGE}`;

const wholeNumber = (name: string, text: string | undefined, max: number): number | undefined => {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`--${name}: must be a whole number from 1 to ${max}`);
  return value;
};

/** An organization's record without its cursor secret. */
const withoutSecret = (record: OrganizationRecord) =>
  organizationRecordSchema.omit({ cursor_secret: true }).parse(record);

const set = async (administration: Administration, organization: string, values: Values) => {
  const shards = wholeNumber("listing-shards", values["listing-shards"], LISTING_SHARDS_MAX);
  const record = await putOrganization(administration, organization, {
    rate: wholeNumber("rate", values.rate, RATE_MAX),
    burst: wholeNumber("burst", values.burst, BURST_MAX),
  });
  if (shards === undefined || shards === record.listing_write_shards) return record;
  return growListingShards(administration, organization, shards, (milliseconds) => {
    console.error(`every function knows the new shards in ${milliseconds / 1000} s; then they are written too`);
    return sleep(milliseconds);
  });
};

const describe = (record: OrganizationRecord): string =>
  `${record.organization}: ${record.rate} requests a second, ${record.burst} at once; ` +
  `its lists have ${record.listing_shards} shards` +
  (record.erasing_since === undefined ? "" : `; it is being erased since ${record.erasing_since}`);

const show = (record: OrganizationRecord, { json }: Values): string =>
  json ? JSON.stringify(withoutSecret(record)) : describe(record);

const list = async (opened: OpenedAdministration, { json }: Values): Promise<string> => {
  const records = (await listOrganizations(opened)).toSorted((a, b) => a.organization.localeCompare(b.organization));
  if (json) return JSON.stringify(records.map(withoutSecret));
  return records.map(describe).join("\n") || "there are no organizations";
};

type Command = (opened: OpenedAdministration, organization: string, values: Values) => Promise<string | undefined>;

/** The commands on one organization. */
const COMMANDS: Readonly<Record<string, Command>> = {
  set: async (opened, organization, values) => show(await set(opened, organization, values), values),
  show: async (opened, organization, values) => show(await getOrganization(opened, organization), values),
  export: async (opened, organization, values) => exportTo(operatorRuntime(opened), organization, values),
  import: async (opened, organization, values) => importFrom(operatorRuntime(opened), organization, values),
  erase: async (opened, organization, values) => erase(operatorRuntime(opened), organization, values),
};

/** Options of each command, in addition to those of all. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  set: ["rate", "burst", "listing-shards", "create"],
  export: ["file", "dry-run"],
  import: ["file", "replace", "dry-run"],
  erase: ["item", "person", "dry-run", "yes"],
};

/** Checks that a command takes the options that are given: an ignored `--dry-run` would write. @throws UsageError */
const assertTaken = (command: string, given: readonly string[]): void => {
  const taken = [...Object.keys(commonOptions), ...(TAKES[command] ?? [])];
  const stray = given.find((name) => !taken.includes(name));
  if (stray !== undefined) throw new UsageError(`${command} takes no --${stray}; it takes --${taken.join(", --")}`);
};

const options = {
  ...commonOptions,
  rate: { type: "string" },
  burst: { type: "string" },
  "listing-shards": { type: "string" },
  create: { type: "boolean", default: false },
  file: { type: "string" },
  replace: { type: "boolean", default: false },
  item: { type: "string" },
  person: { type: "string" },
  "dry-run": { type: "boolean", default: false },
  yes: { type: "boolean", default: false },
} as const;
type Values = ReturnType<typeof parseArgs<{ readonly options: typeof options }>>["values"];

await runCommand(async () => {
  const { values, positionals, tokens } = parseArgs({ allowPositionals: true, tokens: true, options });
  const [command = "", id, stray] = positionals;
  const given = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
  if (Object.hasOwn(COMMANDS, command) || command === "list") assertTaken(command, given);
  const open = async () => openAdministration(values, await variablesOf(values, process.env));
  if (command === "list" && id === undefined) return list(await open(), values);
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (stray !== undefined || id === undefined || run === undefined) throw new UsageError(USAGE);
  const [opened, organization] = [await open(), organizationId(id)];
  if (!values.create)
    await existingOrganization(opened, organization, command === "set" ? "--create makes a new one" : "");
  return run(opened, organization, values);
});
