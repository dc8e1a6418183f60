import { parseArgs } from "node:util";
import { type Clock, isoTime } from "../../../lib/clock.ts";
import { type ApiKeyRecord, apiKeyRecordSchema } from "../../../lib/organizations/access-store.ts";
import { type CreatedKey, createKey, isLive, listKeys, revokeKey, rotateKey } from "../../../lib/operator/keys.ts";
import { nearestTo } from "../../../lib/nearest.ts";
import { apiKeyId, hashApiKey } from "../../../lib/organizations/api-key.ts";
import { lastUsesOf, listAllKeys } from "../../../lib/operator/key-list.ts";
import { KEY_SCOPES, type KeyScope, keyScopeSchema } from "../../../lib/organizations/key-scope.ts";
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
import { variablesOf } from "./stack-variables.ts";

const USAGE = `usage: npm run keys -- create --organization acme [--name ci] [--expires 90d] [--scopes read,write,upload]
       npm run keys -- list   [--organization acme]
       npm run keys -- rotate --organization acme [--name ci | --key <key id>] [--expires 90d] [--scopes read,write,upload]
       npm run keys -- revoke --organization acme --key <key id, or the key itself>
${COMMON_USAGE}`;

const DURATION_MILLISECONDS = { h: 3_600_000, d: 86_400_000 } as const;

/** The time that is for example `90d` or `12h` from now. */
const expiry = (text: string | undefined, clock: Clock): string | undefined => {
  if (text === undefined) return undefined;
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError("--expires: must be hours or days, such as 12h or 90d");
  return isoTime(clock() + Number(count) * DURATION_MILLISECONDS[unit as "h" | "d"]);
};

const scopesIn = (text: string | undefined): KeyScope[] | undefined =>
  text?.split(",").map((name) => {
    const parsed = keyScopeSchema.safeParse(name.trim());
    if (parsed.success) return parsed.data;
    throw new UsageError(`--scopes: there is no ${name}; did you mean ${nearestTo(name, KEY_SCOPES)}?`);
  });

const keyId = (text: string | undefined): string => {
  if (text === undefined) throw new UsageError("--key: name the key to revoke; npm run keys -- list shows them");
  return text.startsWith("wi_") ? apiKeyId(hashApiKey(text)) : text;
};

const stateOf = (key: ApiKeyRecord, now: number): string => {
  if (key.revoked_at !== undefined) return `revoked ${key.revoked_at}`;
  if (!isLive(key, now)) return `expired ${key.valid_until}`;
  return key.valid_until === undefined ? "live" : `live until ${key.valid_until}`;
};

/** A key's record without its hash. */
const withoutHash = (key: ApiKeyRecord) => apiKeyRecordSchema.omit({ hash: true }).parse(key);

const describeCreated = ({ key, record }: CreatedKey): string =>
  `${key}\nkey ${record.key_id} (${record.name}) of ${record.organization}; it is shown this once`;

/** Keys, each with the hour of its last use: ISO 8601; undefined if it was never used, or nobody knows. */
const list = async (administration: OpenedAdministration, organization: string | undefined) => {
  const keys = await (organization === undefined
    ? listAllKeys(administration)
    : listKeys(administration, organization));
  const limits = administration.variables["LIMITS_TABLE"];
  const uses =
    limits === undefined
      ? new Map<string, string>()
      : await lastUsesOf({ dynamodb: administration.dynamodb, environment: { LIMITS_TABLE: limits } }, keys);
  return keys.map((key) => ({ key, usedAt: uses.get(key.key_id) }));
};

const describeListed = (key: ApiKeyRecord, usedAt: string | undefined, now: number): string =>
  [
    key.organization,
    key.key_id,
    key.name,
    (key.scopes ?? KEY_SCOPES).join(","),
    `created ${key.created_at}`,
    usedAt === undefined ? "use unknown" : `used ${usedAt.slice(0, "2026-11-21T18".length)}`,
    stateOf(key, now),
  ].join("  ");

const run = async (
  administration: OpenedAdministration,
  command: string | undefined,
  values: Values,
): Promise<string> => {
  const { clock } = administration;
  const options = {
    name: values.name,
    validUntil: expiry(values.expires, clock),
    scopes: scopesIn(values.scopes),
  };
  const existing = async (organization: string | undefined): Promise<string> =>
    (await existingOrganization(administration, organizationId(organization))).organization;
  const print = (result: unknown, text: string): string => (values.json ? JSON.stringify(result) : text);
  switch (command) {
    case "create": {
      const created = await createKey(administration, organizationId(values.organization), options);
      return print({ key: created.key, ...withoutHash(created.record) }, describeCreated(created));
    }
    case "list": {
      const { organization } = values;
      if (organization !== undefined) await existing(organization);
      const keys = await list(administration, organization);
      return print(
        keys.map(({ key, usedAt }) => ({ ...withoutHash(key), ...(usedAt !== undefined && { used_at: usedAt }) })),
        keys.map(({ key, usedAt }) => describeListed(key, usedAt, clock())).join("\n") ||
          `${organization ?? "nobody"} has no keys`,
      );
    }
    case "rotate": {
      const rotated = await rotateKey(administration, await existing(values.organization), {
        ...options,
        keyId: values.key === undefined ? undefined : keyId(values.key),
      });
      const { previous, revoked } = rotated;
      return print(
        {
          key: rotated.key,
          ...withoutHash(rotated.record),
          previous: withoutHash(previous),
          revoked: revoked.map(withoutHash),
        },
        `${describeCreated(rotated)}\nkey ${previous.key_id} stays live until it is revoked or rotated out` +
          revoked.map((key) => `\nkey ${key.key_id} is revoked`).join(""),
      );
    }
    case "revoke": {
      const id = keyId(values.key);
      const revoked = await revokeKey(administration, await existing(values.organization), id);
      return print(withoutHash(revoked), `key ${revoked.key_id} is revoked; it is refused everywhere within 60 s`);
    }
    default:
      throw new UsageError(USAGE);
  }
};

const parseCommandLine = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      ...commonOptions,
      organization: { type: "string" },
      name: { type: "string" },
      expires: { type: "string" },
      scopes: { type: "string" },
      key: { type: "string" },
    },
  });
type Values = ReturnType<typeof parseCommandLine>["values"];

await runCommand(async () => {
  const { values, positionals } = parseCommandLine();
  const [command, stray] = positionals;
  if (stray !== undefined || !["create", "list", "rotate", "revoke"].includes(command ?? ""))
    throw new UsageError(USAGE);
  return run(openAdministration(values, await variablesOf(values, process.env)), command, values);
});
