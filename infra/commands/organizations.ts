import { parseArgs } from "node:util";
import { getOrganization, putOrganization } from "../../lib/organizations/administration.ts";
import {
  BURST_MAX,
  type OrganizationRecord,
  organizationRecordSchema,
  RATE_MAX,
} from "../../lib/organizations/organization.ts";
import {
  COMMON_USAGE,
  commonOptions,
  openAdministration,
  organizationId,
  runCommand,
  UsageError,
} from "./administration.ts";

const USAGE = `usage: npm run organizations -- set acme [--rate 200] [--burst 400]
       npm run organizations -- show acme
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

await runCommand(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { ...commonOptions, rate: { type: "string" }, burst: { type: "string" } },
  });
  const [command, id, stray] = positionals;
  if (stray !== undefined || id === undefined || (command !== "set" && command !== "show")) throw new UsageError(USAGE);
  const organization = organizationId(id);
  const settings = {
    rate: wholeNumber("rate", values.rate, RATE_MAX),
    burst: wholeNumber("burst", values.burst, BURST_MAX),
  };
  const administration = openAdministration(values, process.env);
  const record =
    command === "set"
      ? await putOrganization(administration, organization, settings)
      : await getOrganization(administration, organization);
  return values.json
    ? JSON.stringify(withoutSecret(record))
    : `${record.organization}: ${record.rate} requests a second, ${record.burst} at once`;
});
