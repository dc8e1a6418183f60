import { isDeepStrictEqual } from "node:util";
import type { Attributes } from "@work-items/lib/aws/attribute-values.ts";
import { keyText } from "@work-items/lib/store/batch-get.ts";
import { type OnDamaged, passDamaged, stopAtDamaged } from "@work-items/lib/store/decode-record.ts";
import { optimisticWrite } from "@work-items/lib/store/optimistic-write.ts";
import { createRecordStore } from "@work-items/lib/store/record-store.ts";
import {
  InvalidInputError,
  StateConflictError,
  StoreBusyError,
  describeProblems,
  type Problem,
} from "@work-items/lib/errors.ts";
import { type JsonValue, parseJson } from "@work-items/lib/json.ts";
import type { RecordKey, StoredRecord } from "@work-items/lib/store/versioned-record.ts";
import { layersDropped, writeWithEvent } from "@work-items/lib/work-items/undo/undo.ts";
import { assertKept, assertSame, getOrganization } from "./administration.ts";
import { toOrganization } from "@work-items/lib/organizations/organization.ts";
import type { RuntimeWith } from "@work-items/lib/aws/runtime.ts";
import { findForbidden, problemsOf } from "@work-items/lib/schema.ts";
import { isEventKey, ITEM_SORT_KEY } from "@work-items/lib/work-items/work-item-record.ts";
import { type CustomerCounts, type CustomerLine, customerLineSchema, recordOfLine } from "./customer-lines.ts";

/** Records that are read and written together. */
const LINES_PER_WRITE = 100;
/** The deepest nesting of a line: more than custom attributes may have. */
const LEVELS_MAX = 100;

/** What an import has done so far. */
export interface Imported {
  readonly lines: number;
  readonly written: number;
  /** Records that already existed and were left unchanged. */
  readonly existing: number;
  /** Records of a dry run that exist with other content: the import would stop there. Absent if there are none. */
  readonly differing?: number;
  /** Records that the export had left out, because they couldn't be read. Present at the end, if there are any. */
  readonly left_out?: number;
}

function refuse(line: number, problems: readonly Problem[]): never {
  throw new InvalidInputError(problems, `line ${line}: ${describeProblems(problems, "line")}`);
}
/** Whether a stored record has the content of a line. */
function hasContent(stored: StoredRecord, content: Attributes): boolean {
  return Object.entries(content).every(([name, value]) => isDeepStrictEqual(stored[name] ?? null, value ?? null));
}

function refuseFile(message: string): never {
  throw new InvalidInputError([], message);
}

function parseLine(text: string, number: number): CustomerLine {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return refuse(number, [{ path: [], code: "invalid_format", message: "isn't valid JSON" }]);
  }
  const forbidden = findForbidden(value, LEVELS_MAX);
  if (forbidden) return refuse(number, [forbidden]);
  const parsed = customerLineSchema.safeParse(value);
  return parsed.success ? parsed.data : refuse(number, problemsOf(parsed.error));
}

/**
 * Imports the lines of an export into an organization. It may have another id than the exported one, and its items and events
 * then get other ids. An interrupted import can be repeated.
 * @param lines of the export, without line feeds
 * @param options.onDamaged called with each stored record that can't be read, which stays unchanged. @default throws
 * @param options.existing what to do with a record that exists with other content. @default "refuse": the import stops
 * @yields after each write
 * @throws NotFoundError (no such organization), StateConflictError (it is being erased; a record exists with other content),
 * StoreBusyError, InvalidInputError (an invalid line, or an export that is cut off)
 */
export async function* importOrganization(
  runtime: RuntimeWith<"workItems" | "access">,
  organizationId: string,
  lines: AsyncIterable<string>,
  options: {
    readonly existing?: "refuse" | "replace" | "keep";
    readonly dryRun?: boolean;
    readonly onDamaged?: OnDamaged;
  } = {},
): AsyncGenerator<Imported> {
  const { existing: onExisting = "refuse", dryRun = false, onDamaged = stopAtDamaged } = options;
  const { clock } = runtime;
  const record = await getOrganization(runtime, organizationId);
  assertKept(record);
  const organization = toOrganization(record);
  const records = createRecordStore(runtime);
  const counts: CustomerCounts = { work_items: 0, events: 0, conversation_uploads: 0 };
  let number = 0;
  let written = 0;
  let existing = 0;
  let differing = 0;
  let pending: (NonNullable<ReturnType<typeof recordOfLine>> & { readonly line: number })[] = [];
  let end: CustomerCounts | undefined;

  /** The records of events' items, when the events are planned. */
  let owners: ReadonlyMap<string, StoredRecord> = new Map();
  const write = async (): Promise<void> => {
    const targets = pending.map(({ key, attributes, content, line }) => ({
      key,
      plan: (stored: StoredRecord | undefined) => {
        const owner = owners.get(keyText({ pk: key.pk, sk: ITEM_SORT_KEY }));
        const isWritten = stored === undefined || onExisting === "replace";
        const differs = !isWritten && onExisting === "refuse" && !hasContent(stored, content);
        return {
          // An undo of an earlier upload mustn't change what the export replaced.
          set: isWritten ? { ...attributes, ...layersDropped(stored, clock()) } : null,
          together: isWritten && isEventKey(key) ? writeWithEvent(owner, clock()) : undefined,
          result: { isWritten, differsAt: differs ? line : undefined },
        };
      },
    }));
    const pendingUntil = pending.at(-1)?.line;
    pending = [];
    // Checked for each write, since an import may take longer than an erasure waits.
    assertSame(record, await getOrganization(runtime, organizationId));
    const read = async (keys: readonly RecordKey[]) => {
      const items = keys.filter(isEventKey).map(({ pk }) => ({ pk, sk: ITEM_SORT_KEY }));
      return (owners = await records.read([...keys, ...items]));
    };
    const results = await optimisticWrite(records, targets, { clock, deadline: Infinity, dryRun, read });
    for (const result of results) {
      if ("error" in result) {
        passDamaged(onDamaged)(result.cause ?? new StoreBusyError(`${result.error}; run the command again`));
      } else if (result.result.isWritten) written += 1;
      else if (result.result.differsAt === undefined) existing += 1;
      else if (dryRun) differing += 1;
      else {
        throw new StateConflictError(
          `line ${result.result.differsAt}: the record exists with other content. Add --replace to replace existing records, ` +
            `or --keep to leave them unchanged. New records up to line ${pendingUntil} were imported`,
        );
      }
    }
  };
  const count = (line: CustomerLine): void => {
    if ("work_item" in line) counts.work_items += 1;
    else if ("event" in line) counts.events += 1;
    else if ("conversation_upload" in line) counts.conversation_uploads += 1;
  };

  for await (const text of lines) {
    number += 1;
    const line = parseLine(text, number);
    if (number === 1 && !("organization" in line)) refuseFile("the file isn't an export");
    if (end !== undefined) refuseFile(`line ${number}: the file continues after the end of the export`);
    if ("end" in line) ({ end } = line);
    count(line);
    const described = recordOfLine(organization, line);
    if (described === undefined) continue;
    // One request can't write a record twice.
    const isRepeated = pending.some(({ key }) => keyText(key) === keyText(described.key));
    if (isRepeated || pending.length >= LINES_PER_WRITE) {
      await write();
      yield { lines: number, written, existing };
    }
    pending.push({ ...described, line: number });
  }
  await write();
  const promised = end;
  const leftOut = promised?.left_out;
  yield {
    lines: number,
    written,
    existing,
    ...(differing > 0 && { differing }),
    ...(leftOut !== undefined && { left_out: leftOut }),
  };
  if (promised === undefined)
    refuseFile("the export is cut off: its last line is missing; the lines before it were imported");
  else if (Object.entries(counts).some(([kind, value]) => promised[kind as keyof CustomerCounts] !== value)) {
    refuseFile("lines are missing: the last line counts more than the file has; the others were imported");
  }
}
