import type { Command } from "commander";
import { type Clock, isoTime } from "@work-items/lib/clock.ts";
import { type ApiKeyRecord, apiKeyRecordSchema } from "@work-items/lib/organizations/access-store.ts";
import {
  type CreatedKey,
  createKey,
  isLive,
  lastUsesOf,
  listAllKeys,
  listKeys,
  revokeKey,
  rotateKey,
} from "../data/key-management.ts";
import { nearestTo } from "@work-items/lib/nearest.ts";
import {
  apiKeyId,
  hashApiKey,
  KEY_SCOPES,
  type KeyScope,
  keyScopeSchema,
} from "@work-items/lib/organizations/api-key.ts";
import { type OnDamaged, stopAtDamaged } from "@work-items/lib/store/decode-record.ts";
import {
  assertOrganization,
  nameDamaged,
  type OpenedAdministration,
  organizationId,
  printResult,
  type Result,
  runOperatorCommand,
  type Target,
  withTarget,
} from "./target-tables.ts";
import { keepCommand } from "./command-record.ts";
import { createCommandLine, UsageError } from "@work-items/terminal/command-line.ts";
import { runAsProgram, type Terminal } from "@work-items/terminal/terminal.ts";
import { open } from "./stack-variables.ts";

const DURATION_MS = { h: 3_600_000, d: 86_400_000 } as const;

/** The time that is for example `90d` or `12h` from now. */
function expiry(text: string | undefined, clock: Clock): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError("--expires: must be hours or days, such as 12h or 90d");
  return isoTime(clock() + Number(count) * DURATION_MS[unit as "h" | "d"]);
}

function scopesIn(text: string | undefined): KeyScope[] | undefined {
  return text?.split(",").map((name) => {
    const parsed = keyScopeSchema.safeParse(name.trim());
    if (parsed.success) return parsed.data;
    throw new UsageError(`--scopes: there is no ${name}; did you mean ${nearestTo(name, KEY_SCOPES)}?`);
  });
}

function keyId(text: string): string {
  return text.startsWith("wi_") ? apiKeyId(hashApiKey(text)) : text;
}

function stateOf(key: ApiKeyRecord, now: number): string {
  if (key.revoked_at !== undefined) return `revoked ${key.revoked_at}`;
  if (!isLive(key, now)) return `expired ${key.valid_until}`;
  return key.valid_until === undefined ? "live" : `live until ${key.valid_until}`;
}

/** A key's record without its hash. */
function withoutHash(key: Partial<ApiKeyRecord>) {
  return apiKeyRecordSchema.partial().omit({ hash: true }).parse(key);
}

function describeCreated({ key, record }: CreatedKey): string {
  return `${key}\nkey ${record.key_id} (${record.name}) of ${record.organization}; it is shown only once`;
}

/** Keys, each with the hour of its last use: ISO 8601; undefined if it was never used, or that is unknown. */
async function keysWithUse(
  administration: OpenedAdministration,
  organization: string | undefined,
  onDamaged: OnDamaged,
) {
  const keys = await (organization === undefined
    ? listAllKeys(administration, onDamaged)
    : listKeys(administration, organization, onDamaged));
  const limits = administration.variables["LIMITS_TABLE"];
  const uses =
    limits === undefined
      ? new Map<string, string>()
      : await lastUsesOf({ dynamodb: administration.dynamodb, environment: { LIMITS_TABLE: limits } }, keys);
  return keys.map((key) => ({ key, usedAt: uses.get(key.key_id) }));
}

function describeListed(key: ApiKeyRecord, usedAt: string | undefined, now: number): string {
  return [
    key.organization,
    key.key_id,
    key.name,
    (key.scopes ?? KEY_SCOPES).join(","),
    `created ${key.created_at}`,
    usedAt === undefined ? "use unknown" : `used ${usedAt.slice(0, "2026-11-21T18".length)}`,
    stateOf(key, now),
  ].join("  ");
}

type Values = Target & {
  readonly organization: string;
  readonly name?: string;
  readonly expires?: string;
  readonly scopes?: string;
  readonly key?: string;
  readonly create?: boolean;
};

async function existing(
  administration: OpenedAdministration,
  id: string,
  onDamaged: OnDamaged = stopAtDamaged,
): Promise<string> {
  const organization = organizationId(id);
  await assertOrganization(administration, organization, onDamaged);
  return organization;
}

function newKey({ name, expires, scopes }: Values, clock: Clock) {
  return {
    name,
    validUntil: expiry(expires, clock),
    scopes: scopesIn(scopes),
  };
}

async function create(administration: OpenedAdministration, values: Values): Promise<Result> {
  const options = newKey(values, administration.clock);
  const organization = organizationId(values.organization);
  if (values.create !== true) {
    await assertOrganization(administration, organization, stopAtDamaged, "use --create for a new one");
  }
  const created = await createKey(administration, organization, options);
  return [{ key: created.key, ...withoutHash(created.record) }, describeCreated(created)];
}

async function list(
  administration: OpenedAdministration,
  values: Partial<Values>,
  terminal: Terminal,
): Promise<Result> {
  const { organization } = values;
  const onDamaged = nameDamaged(terminal);
  if (organization !== undefined) await existing(administration, organization, onDamaged);
  const keys = await keysWithUse(administration, organization, onDamaged);
  const now = administration.clock();
  return [
    keys.map(({ key, usedAt }) => ({ ...withoutHash(key), ...(usedAt !== undefined && { used_at: usedAt }) })),
    keys.map(({ key, usedAt }) => describeListed(key, usedAt, now)).join("\n") ||
      (organization === undefined ? "there are no keys" : `${organization} has no keys`),
  ];
}

async function rotate(administration: OpenedAdministration, values: Values): Promise<Result> {
  const options = newKey(values, administration.clock);
  const rotated = await rotateKey(administration, await existing(administration, values.organization), {
    ...options,
    keyId: values.key === undefined ? undefined : keyId(values.key),
  });
  const { key, record, previous, revoked } = rotated;
  return [
    { key, ...withoutHash(record), previous: withoutHash(previous), revoked: revoked.map(withoutHash) },
    `${describeCreated(rotated)}\nkey ${previous.key_id} stays live until it is revoked or rotated out` +
      revoked.map(({ key_id: id }) => `\nkey ${id} is revoked`).join(""),
  ];
}

async function revoke(
  administration: OpenedAdministration,
  values: Values & { key: string },
  terminal: Terminal,
): Promise<Result> {
  const onDamaged = nameDamaged(terminal);
  const organization = await existing(administration, values.organization, onDamaged);
  const revoked = await revokeKey(administration, organization, keyId(values.key), onDamaged);
  return [withoutHash(revoked), `key ${revoked.key_id} is revoked; it stops working everywhere within 60 s`];
}

type Run<V> = (administration: OpenedAdministration, values: V, terminal: Terminal) => Promise<Result>;

function ofNewKey(command: Command): Command {
  return command
    .requiredOption("--organization <id>", "organization of the key, such as acme")
    .option("--name <name>", "name of the key, such as ci")
    .option("--expires <duration>", "hours or days for which it is valid, such as 12h or 90d")
    .option("--scopes <scopes>", `what it may do, of ${KEY_SCOPES.join(",")} (default: all)`);
}

/** `npm run keys`. @returns the exit status */
export function keysCommand(terminal: Terminal): Promise<number> {
  const program = createCommandLine(terminal, "npm run keys --", "Create, list, rotate and revoke API keys");
  const command = (name: string, description: string): Command =>
    withTarget(program.command(name).description(description));
  /** Opens the tables, runs a command and prints its result. @param kept name under which the command is kept */
  const printing =
    <V extends Target & Partial<Values>>(run: Run<V>, kept?: string) =>
    async (values: V): Promise<void> => {
      const administration = await open(terminal, values);
      const { organization = "", key } = values;
      const work = (): Promise<Result> => run(administration, values, terminal);
      const given = { ...values, keyId: key && keyId(key) };
      const result = kept === undefined ? work() : keepCommand(administration, kept, organization, given, work);
      printResult(terminal, values, await result);
    };

  ofNewKey(command("create", "create a key"))
    .option("--create", "create the organization if it doesn't exist")
    .action(printing(create, "keys create"));
  command("list", "list keys with the hour of their last use")
    .option("--organization <id>", "only those of this organization")
    .action(printing(list));
  ofNewKey(command("rotate", "create a key that replaces another, which stays valid until it is revoked"))
    .option("--key <id>", "id of the key to replace, if several have the name")
    .action(printing(rotate, "keys rotate"));
  command("revoke", "revoke a key; npm run keys -- list shows the ids")
    .requiredOption("--organization <id>", "organization of the key, such as acme")
    .requiredOption("--key <id or key>", "id of the key, or the key itself")
    .action(printing(revoke, "keys revoke"));
  return runOperatorCommand(terminal, program);
}

if (import.meta.main) await runAsProgram(keysCommand);
