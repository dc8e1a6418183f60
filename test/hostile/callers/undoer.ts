import { parse } from "csv-parse/sync";
import { workItemId } from "../../../lib/identity.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { randomFrom } from "../../support/random.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import {
  type FileRow,
  groupOf,
  type Job,
  judgeLines,
  judgeRows,
  PARTLY,
  UNDONE_UNFINISHED,
  type UndoLine,
  type UndoneFile,
} from "../oracle/undo-results.ts";
import {
  CLEARED,
  DATED,
  type FoundItem,
  GONE,
  judgeItem,
  type KnownItem,
  MINE,
  newItem,
} from "../oracle/undone-item.ts";
import type { CallOptions, Customer, Response } from "../world/service.ts";
import { type Scene, untilAnswered } from "./item-caller.ts";
import type { Uploads } from "./uploader.ts";

const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
const MINUTE_MS = 60_000;
const ENDS_WITHIN_MS = 36 * 60 * MINUTE_MS;
/** Items that all files have, and those that only one has. */
const SHARED_ITEMS = 24;
const OWN_ITEMS = 8;
const TOUCHED_ITEMS = 4;
/** More would make an item forget its first file. */
const FILES_MAX = 3;
const WRITERS = 3;
const WRITES_MAX = 30;
const EVENTS = ["e0", "e1", "e2"];

/**
 * Uploads files and undoes them at the same time, while others write to their items. What others write, each in an attribute of
 * its own, must outlive the undos; what the files set in fields that they don't touch must not. Each row counts once, and
 * says what the undo did to its item and event.
 */
export function createUndoer(scene: Scene & { readonly uploads: Uploads }, customer: Customer, seed: number) {
  const { world, service, oracle, uploads } = scene;
  const { id: organization } = customer.organization;
  const random = randomFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const shared = Array.from({ length: SHARED_ITEMS }, (_, number) => newItem(`u${number}`, number % 2 === 0));
  const own: KnownItem[] = [];
  let areUndone = false;

  const call = (
    what: string,
    route: RouteName,
    request: ApiRequest,
    isDone: (response: Response) => boolean = () => true,
    more: Partial<CallOptions> = {},
  ): Promise<Response | undefined> => {
    const send = (options: CallOptions) => service.call(customer, route, request, { ...options, ...more });
    return untilAnswered(scene, customer, what, [], send, isDone);
  };
  const idOf = (name: string): string => workItemId(organization, name);

  /** Writes to an item once. @returns whether it was acknowledged */
  const writeTo = async (item: KnownItem, route: RouteName, body: object): Promise<boolean> => {
    let hasStopped = false;
    const onStop = (): void => void (hasStopped = true);
    const response = await call("write", route, { params: { id: idOf(item.name) }, body }, () => true, { onStop });
    if (response?.status === 200 || response?.status === 201) {
      oracle.acknowledged += 1;
      return true;
    }
    // Where a later attempt finds no item, a frozen one may still find it.
    if (response?.status !== 404 || hasStopped) item.isUncertain = true;
    return false;
  };

  /** Someone who adds attributes and events to shared items until the undos have ended. */
  const write = async (writer: number, isOver: () => boolean): Promise<void> => {
    for (let number = 0; number < WRITES_MAX && !isOver(); number++) {
      const item = shared[below(SHARED_ITEMS * 0.6)]!;
      const text = `w${writer}-${number}`;
      if (random() < 0.25) {
        const external_id = EVENTS[below(EVENTS.length)]!;
        item.contents.set(external_id, (item.contents.get(external_id) ?? new Set()).add(text));
        const body = { event: { external_id, content: text } };
        if (await writeTo(item, "upsertWorkItemEvent", body)) item.hasContent.add(external_id);
      } else {
        // A field of the files, of which the undo then keeps a part.
        const isTyping = item.isOlder && random() < 0.3;
        if (isTyping) item.types.add(text);
        const work_item = { custom_attributes: { [text]: number }, ...(isTyping && { type: text }) };
        if (await writeTo(item, "updateWorkItem", { work_item })) {
          item.written.add(text);
          item.hasType ||= isTyping;
        }
      }
      await world.sleep(1000 + random() * 25_000);
    }
  };

  /** Asks for a job until it has ended, and maybe cancels it. */
  const follow = async (what: string, id: string, cancelsAfter: number): Promise<Job | undefined> => {
    const begunAt = world.clock();
    let hasCancelled = false;
    for (;;) {
      const response = await call(what, "getWorkItemUpload", { params: { id } });
      if (response?.status !== 200) {
        oracle.report("wrong", { [what]: response?.text });
        return undefined;
      }
      const job = response.body.data as Job;
      if (ENDED.includes(job.status)) {
        if (job.status === "failed" || (job.status === "cancelled" && !hasCancelled))
          oracle.report("lost", { what, job });
        return job;
      }
      if (world.clock() - begunAt > ENDS_WITHIN_MS) {
        oracle.report("lost", { "does not end": what, job });
        return undefined;
      }
      if (!hasCancelled && world.clock() - begunAt > cancelsAfter) {
        hasCancelled = true;
        await call(`cancel ${what}`, "cancelWorkItemUpload", { params: { id } });
      }
      await world.sleep(3000 + random() * 10_000);
    }
  };

  /** The results of a job, by row. */
  const resultsOf = async (id: string): Promise<ReadonlyMap<number, readonly string[]>> => {
    const response = await call("list", "getWorkItemUploadResults", { params: { id } });
    const { url } = (response?.body.data ?? {}) as { readonly url?: string | null };
    const text = url ? await uploads.listOf({ organization, id }, "results", url) : "";
    const lines: string[][] = parse(text, { bom: true, from: 2 });
    const byRow = new Map(lines.map(([row, ...cells]) => [Number(row), cells]));
    if (byRow.size !== lines.length) oracle.report("doubled", { id, text });
    return byRow;
  };

  const linesOf = async (file: UndoneFile, job: Job): Promise<readonly UndoLine[]> =>
    judgeLines(oracle, file, job, await resultsOf(job.id));

  const ask = async (id: string, isDryRun: boolean): Promise<string | undefined> => {
    const body = isDryRun ? { undo: { dry_run: true } } : {};
    const response = await call("undo", "undoWorkItemUpload", { params: { id }, body });
    if (response?.status === 202) return (response.body.data as Job).id;
    oracle.report("wrong", { undo: response?.text });
    return undefined;
  };

  /** Undoes a file, after a trial or not. The first undo may be cancelled. @returns whether it is undone */
  const undo = async (file: UndoneFile): Promise<boolean> => {
    const { id } = file;
    if (random() < 0.4) {
      const trial = await ask(id, true);
      const job = trial && (await follow("trial", trial, Infinity));
      if (job) judgeRows(oracle, file, [await linesOf(file, job)], { isTrial: true });
    }
    const lists: (readonly UndoLine[])[] = [];
    for (const cancelsAfter of [random() < 0.5 ? random() * 2 * MINUTE_MS : Infinity, Infinity]) {
      const undoId = await ask(id, false);
      if (undoId === undefined) return false;
      if (random() < 0.3 && (await ask(id, false)) !== undoId) {
        const { status } = (await follow("undo", undoId, Infinity)) ?? {};
        if (status !== "cancelled") oracle.report("doubled", { undos: id });
      }
      const job = await follow("undo", undoId, cancelsAfter);
      if (!job) return false;
      lists.push(await linesOf(file, job));
      if (job.status === "completed") {
        judgeRows(oracle, file, lists, { mayFreeze: world.hostilities.chosen.has("freezes") });
        return true;
      }
    }
    // The first was cancelled: the second is another one, which completes.
    oracle.report("wrong", { "is not undone": id });
    return false;
  };

  /** Applies a batch of which all must succeed. One that was frozen would write once more after others have written. */
  const applyAll = async (what: string, work_items: readonly object[]): Promise<void> => {
    const hasAll = ({ body }: Response): boolean =>
      (body.data as { readonly summary?: { readonly error: number } } | undefined)?.summary?.error === 0;
    await call(what, "applyWorkItemBatch", { body: { work_items } }, hasAll, { isCalm: true });
  };
  const prepare = (items: readonly KnownItem[]): Promise<void> =>
    applyAll(
      "prepare",
      items.map(({ name }) => ({ external_id: name, type: "before", ...CLEARED })),
    );
  /**
   * Dates the completion of items, and changes their type and what files clear, or their first event: no undo takes that
   * back.
   */
  const touch = async (items: readonly KnownItem[], hasEvents: boolean): Promise<void> => {
    for (const item of items) {
      item.isDated = true;
      if (hasEvents) {
        item.contents.set("e0", new Set([MINE]));
        item.hasContent.add("e0");
      } else {
        item.types.add(MINE);
        item.hasType = true;
        item.gone = MINE;
      }
    }
    await applyAll(
      "touch",
      items.map(({ name }) => ({
        external_id: name,
        completed_at: DATED,
        ...(hasEvents
          ? { events: [{ external_id: "e0", content: MINE }] }
          : { type: MINE, custom_attributes: { gone: MINE } }),
      })),
    );
  };

  /** Makes a file and uploads it. It may be cancelled. */
  const upload = async (number: number): Promise<UndoneFile | undefined> => {
    const made = Array.from({ length: OWN_ITEMS }, (_, index) => newItem(`f${number}-${index}`, false));
    const touched = Array.from({ length: TOUCHED_ITEMS }, (_, index) => newItem(`t${number}-${index}`, true));
    own.push(...made, ...touched);
    await prepare(touched);
    const hasEvents = random() < 0.6;
    const blank = random() < 0.6 ? "clear" : "keep";
    const rows: FileRow[] = [];
    const lines: string[] = [];
    const add = (name: string, isFirst: boolean): void => {
      const event = hasEvents ? EVENTS[below(EVENTS.length)] : undefined;
      const isValid = name !== "" && (isFirst || random() > 0.05);
      const extra = random() < 0.4 ? `extra${number}` : "";
      const emptied = blank === "clear" ? null : undefined;
      const isTouched = touched.some((item) => item.name === name);
      const isCompleting = isValid && isTouched && (isFirst || extra !== "");
      rows.push({ name, event, isValid, gone: isValid ? extra || emptied : undefined, isCompleting });
      const type = isFirst || random() < 0.5 ? `imported${number}` : "";
      const agent = isFirst || random() < 0.5 ? `Imp${number}` : "";
      const text = event && (blank === "keep" || random() < 0.7) ? `text${number}` : "";
      const status = isCompleting ? "completed" : "";
      const cells = [name, type, agent, isValid ? "" : "no address", "", extra, status, event ?? "", text];
      lines.push(cells.slice(0, hasEvents ? undefined : 7).join(","));
    };
    const names = [...shared, ...made, ...touched].map(({ name }) => name);
    for (const name of names) add(name, true);
    for (let more = 40 + below(80); more > 0; more--) add(random() < 0.05 ? "" : names[below(names.length)]!, false);
    const columns = ["id", "type", "agent", "mail", "number", "extra", "status", "event", "text"];
    const mapping = {
      fields: {
        external_id: { column: "id" },
        type: { column: "type" },
        agent_name: { column: "agent" },
        agent_email: { column: "mail" },
        agent_external_id: { column: "number", blank },
        [GONE]: { column: "extra", blank },
        status: { column: "status" },
      },
      ...(hasEvents && { event: { external_id: { column: "event" }, content: { column: "text", blank } } }),
    };
    const text = `${[columns.slice(0, hasEvents ? undefined : 7).join(","), ...lines].join("\n")}\n`;
    const request = multipart(text, { mapping });
    const headers = { ...request.headers, "idempotency-key": `undoer ${seed} ${number}` };
    const posted = await call("upload", "uploadWorkItems", { ...request, headers });
    const id = (posted?.body.data as Job | undefined)?.id;
    if (posted?.status !== 202 || id === undefined) {
      oracle.report("wrong", { upload: posted?.text });
      return undefined;
    }
    uploads.announce({ organization, id });
    const job = await follow("import", id, random() < 0.3 ? random() * MINUTE_MS : Infinity);
    if (!job) return undefined;
    const results = await resultsOf(id);
    for (const [row, [, , outcome]] of results) {
      const { isValid } = rows[row - 2]!;
      if (isValid === (outcome === "error")) oracle.report("wrong", { job, row, outcome, line: lines[row - 2] });
    }
    const expected = new Map<string, string>();
    const expect = (of: readonly KnownItem[], outcomeOf: (event: string | undefined) => string): void => {
      for (const { name } of of) {
        // Of a file that was cancelled, rows that aren't counted weren't applied.
        const applied = [...results].filter(([, [rowName, , outcome]]) => rowName === name && outcome !== "error");
        if (applied.length === 0) continue;
        const itsRows = rows.filter(
          (row) => row.name === name && (job.status === "completed" || row.event === undefined),
        );
        for (const row of itsRows) expected.set(groupOf(row), outcomeOf(row.isValid ? row.event : undefined));
      }
    };
    expect(made, () => "deleted");
    if (job.status === "completed") {
      // Someone changes what the file has set, and then an event of it.
      await touch(touched, hasEvents);
      expect(touched, (event) => (hasEvents && event !== "e0" ? UNDONE_UNFINISHED : PARTLY));
    }
    return { id, rows: new Map(rows.map((row, index) => [index + 2, row])), expected, touched };
  };

  return {
    /** Makes items, and files that change them and make others, then undoes the files while others write. */
    run: async (): Promise<void> => {
      await prepare(shared.filter(({ isOlder }) => isOlder));
      let isOver = false;
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer, () => isOver));
      const files: (UndoneFile | undefined)[] = [];
      for (let number = 1 + below(FILES_MAX); number > 0; number--) files.push(await upload(number));
      const undone = await Promise.all(
        files.map(async (file) => {
          await world.sleep(random() * MINUTE_MS);
          return file !== undefined && undo(file);
        }),
      );
      areUndone = undone.every(Boolean);
      isOver = true;
      await Promise.all(writers);
    },
    /** Looks at every item when nothing happens any more. */
    check: async (): Promise<void> => {
      for (const item of [...shared, ...own]) {
        const response = await call("look", "getWorkItem", { params: { id: idOf(item.name) } });
        judgeItem(oracle, item, response?.body.data as FoundItem | undefined, areUndone);
      }
    },
  };
}
