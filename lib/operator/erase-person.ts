import { setTimeout as wait } from "node:timers/promises";
import { isoTime } from "../clock.ts";
import { optimisticWrite, type WriteTarget } from "../store/optimistic-write.ts";
import { createRecordStore } from "../store/record-store.ts";
import type { Attributes } from "../aws/attribute-values.ts";
import type { RecordKey } from "../store/versioned-record.ts";
import { StoreBusyError } from "../errors.ts";
import { getOrganization } from "./administration.ts";
import { toOrganization } from "../organizations/organization.ts";
import type { RuntimeWith } from "../aws/runtime.ts";
import type { UploadJob } from "../uploads/job/upload-record.ts";
import { jobFrom } from "../uploads/job/upload-table.ts";
import {
  attributesOf,
  itemIdOf,
  ITEM_SORT_KEY,
  workItemEventFrom,
  workItemFrom,
} from "../work-items/work-item-record.ts";
import { deleteRecords, scanOrganization, type ScanProgress } from "./customer-records.ts";
import { erasedAs, kindOf } from "./kinds-of-data.ts";
import { CALLS_END_WITHIN_MS, createJobsBefore } from "./jobs-before.ts";

/** What erasing a person requires of a runtime. */
export type PersonRuntime = RuntimeWith<"workItems" | "access" | "uploads">;

/** How the erasure of a person tells how far it is, and how it waits. */
export interface PersonOptions {
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Called before it waits for upload jobs, with their ids. None: for calls and workers that have begun. */
  readonly onWait?: (jobs: readonly string[]) => void;
  /** @default waits */
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

/** Where a text may still hold a person's address. */
interface Mention {
  readonly kind: "custom_attributes" | "agent" | "actor" | "content" | "other";
  /** Id of the work item, or key of a record of another kind. */
  readonly id: string;
}

/** An upload whose file, segments and report may hold the person's address until they expire. */
interface FileOfPerson {
  readonly job: string;
  readonly file_name: string;
  readonly created_at: string;
}

const WRITE_WITHIN_MS = 20_000;
/** How often it asks whether upload jobs have ended. */
const ASK_AGAIN_MS = 5000;
/** Passes after which others keep bringing the address back: their source must be stopped first. */
const PASSES_MAX = 5;

const NO_AGENT = { agent_email: null, agent_name: null, agent_external_id: null } as const;
const NO_ACTOR = { actor_email: null, actor_name: null, actor_external_id: null } as const;

function isRecordOfItem({ sk }: RecordKey): boolean {
  return sk === ITEM_SORT_KEY;
}

/**
 * Empties the agent of every item and the actor of every event that has this email address, whatever its case, also in
 * deleted items, and deletes the plans of dry runs that hold it. First waits for calls under way, and for the upload jobs
 * whose files have come by then.
 * Repeats until a pass finds none. Texts are not changed: the result names those that hold the address.
 * @throws NotFoundError, StoreBusyError
 */
export async function erasePerson(
  runtime: PersonRuntime,
  organizationId: string,
  address: string,
  options: PersonOptions = {},
) {
  const { clock } = runtime;
  const { sleep = wait, onWait = () => undefined } = options;
  const organization = toOrganization(await getOrganization(runtime, organizationId));
  const records = createRecordStore(runtime);
  const wanted = address.toLowerCase();
  const is = (value: unknown): boolean => typeof value === "string" && value.toLowerCase() === wanted;
  const holds = (value: unknown): boolean => typeof value === "string" && value.toLowerCase().includes(wanted);

  const target = (key: RecordKey): WriteTarget<boolean> => ({
    key,
    plan: (stored) => {
      if (isRecordOfItem(key)) {
        const item = workItemFrom(stored);
        if (item === null || !is(item.agent_email)) return { set: null, result: false };
        const next = { ...item, ...NO_AGENT, updated_at: isoTime(clock()) };
        return { set: attributesOf(organization, itemIdOf(key), next), result: true };
      }
      const event = workItemEventFrom(stored);
      return event !== null && is(event.actor_email)
        ? { set: { ...event, ...NO_ACTOR }, result: true }
        : { set: null, result: false };
    },
  });
  /** @returns how many items and events were emptied, or would be */
  const empty = async (found: readonly RecordKey[]): Promise<{ items: number; events: number }> => {
    const keys = found.map(({ pk, sk }) => ({ pk, sk }));
    const deadline = clock() + WRITE_WITHIN_MS;
    const results = await optimisticWrite(records, keys.map(target), { clock, deadline, dryRun: options.dryRun });
    const failed = results.find((result) => "error" in result);
    if (failed) throw failed.cause ?? new StoreBusyError(`${failed.error}; repeat the command`);
    const emptied = keys.filter((_, index) => {
      const result = results[index];
      return result !== undefined && "result" in result && result.result;
    });
    const items = emptied.filter(isRecordOfItem).length;
    return { items, events: emptied.length - items };
  };

  /** The texts of a record that hold the address, once its agent or actor is empty. */
  const mentionsIn = (record: Attributes & RecordKey): Mention[] => {
    const kind = kindOf(record);
    if (kind !== "ITEM") {
      const isHeld = Object.values(record).some(holds);
      return isHeld ? [{ kind: "other", id: `${record.pk} ${record.sk}` }] : [];
    }
    const id = itemIdOf(record);
    const isOwn = is(record["agent_email"]) || is(record["actor_email"]);
    const places = [
      ["custom_attributes", ["custom_attributes"]],
      ["agent", isOwn ? [] : ["agent_name", "agent_external_id"]],
      ["actor", isOwn ? [] : ["actor_name", "actor_external_id"]],
      ["content", ["content"]],
      ["other", ["external_id"]],
    ] as const;
    return places.flatMap(([place, names]) => (names.some((name) => holds(record[name])) ? [{ kind: place, id }] : []));
  };
  const jobsOf = (page: readonly (Attributes & RecordKey)[]): UploadJob[] =>
    page.filter((record) => erasedAs(record) === "upload_jobs").map(jobFrom);
  const fileOf = ({ id, file_name: name = "", created_at }: UploadJob): FileOfPerson => ({
    job: id,
    file_name: name,
    created_at,
  });

  const callsUntil = clock() + CALLS_END_WITHIN_MS;
  const jobs = createJobsBefore(runtime, organizationId, callsUntil);
  /** Until when workers of jobs that have ended may write, in milliseconds since the epoch. */
  let workersUntil = 0;
  if (!options.dryRun) {
    onWait([]);
    await sleep(CALLS_END_WITHIN_MS);
    for (let open = await jobs.open(); open.length > 0; open = await jobs.open()) {
      onWait(open);
      await sleep(ASK_AGAIN_MS);
    }
  }

  /** The plans of dry runs that hold the address. Dry runs that came later keep theirs, and are named. */
  const plansBefore = async (page: readonly (Attributes & RecordKey)[]): Promise<(Attributes & RecordKey)[]> => {
    const plans = page.filter((record) => kindOf(record) === "DRY_RUN" && Object.values(record).some(holds));
    const came = await Promise.all(plans.map(({ pk }) => jobs.cameBefore(pk.split("#")[2] ?? "")));
    return plans.filter((_, index) => came[index]);
  };

  let [items, events, readUnits] = [0, 0, 0];
  for (let pass = 1; ;) {
    const passBegan = clock();
    const mentions: Mention[] = [];
    const files: FileOfPerson[] = [];
    let emptied = 0;
    const scan = await scanOrganization(
      runtime,
      organizationId,
      async ({ records: page }) => {
        const found = jobsOf(page);
        files.push(...found.map(fileOf));
        workersUntil = Math.max(workersUntil, ...found.map(jobs.workersUntil));
        const plans = options.dryRun ? [] : await plansBefore(page);
        await deleteRecords(runtime, runtime.environment.WORK_ITEMS_TABLE, plans);
        mentions.push(...page.filter((record) => !plans.includes(record)).flatMap(mentionsIn));
        const named = page.filter(
          (record) => kindOf(record) === "ITEM" && (is(record["agent_email"]) || is(record["actor_email"])),
        );
        if (named.length === 0) return;
        const counted = await empty(named);
        items += counted.items;
        events += counted.events;
        emptied += named.length;
      },
      options.onProgress,
    );
    readUnits += scan.readUnits;
    const isDone = (emptied === 0 && passBegan >= workersUntil) || options.dryRun === true;
    // The items and events whose agent or actor was emptied, and what may still hold the address.
    if (isDone) return { work_items: items, events, mentions, files, read_units: readUnits };
    if (clock() < workersUntil) {
      onWait([]);
      await sleep(workersUntil - clock());
    } else if (emptied > 0 && pass++ === PASSES_MAX) {
      throw new StoreBusyError(`${address} comes back while it is erased: stop what sends it, and repeat the command`);
    }
  }
}
/** What was erased of a person, and what may still hold the address. */
export type ErasedPerson = Awaited<ReturnType<typeof erasePerson>>;
