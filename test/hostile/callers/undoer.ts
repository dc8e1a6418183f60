import { parse } from "csv-parse/sync";
import { workItemId } from "../../../lib/identity.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { randomFrom } from "../../support/random.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import type { CallOptions, Customer, Response } from "../world/service.ts";
import { type Scene, untilAnswered } from "./item-caller.ts";
import type { Uploads } from "./uploader.ts";

const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
const OUTCOMES = { undone: "undone", partly: "partly_undone", kept: "kept", dropped: "kept", unchanged: "unchanged" };
const COUNTERS = [...new Set(Object.values(OUTCOMES)), "failed"];
type Job = Readonly<Record<string, number>> & { readonly id: string; readonly status: string };

const MINUTE_MS = 60_000;
const ENDS_WITHIN_MS = 36 * 60 * MINUTE_MS;
const ITEMS = 40;
const WRITERS = 3;

/** What is known of one item of the file. */
interface KnownItem {
  readonly name: string;
  /** Whether it was there before the file. */
  readonly isOlder: boolean;
  /** Attributes whose write was acknowledged: each write has one of its own, so that no write hides another. */
  readonly written: Set<string>;
  /** Types that others gave it, or tried to. One that was acknowledged is never taken back to what was before the file. */
  readonly types: Set<string>;
  hasType: boolean;
  /** Whether a write got no answer, or another one than 200 and 404: anything may have happened. */
  isUncertain: boolean;
}

/**
 * Uploads a file and undoes it while others write to its items. What they write, each in an attribute of its own, must
 * outlive the undo; what the file set in fields that they don't touch must not.
 */
export function createUndoer(scene: Scene & { readonly uploads: Uploads }, customer: Customer, seed: number) {
  const { world, service, oracle, uploads } = scene;
  const { id: organization } = customer.organization;
  const random = randomFrom(seed);
  const items = Array.from({ length: ITEMS }, (_, number): KnownItem => {
    return {
      name: `u${number}`,
      isOlder: number % 2 === 0,
      written: new Set(),
      types: new Set(),
      hasType: false,
      isUncertain: false,
    };
  });
  let isUndone = false;

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
  const idOf = ({ name }: KnownItem): string => workItemId(organization, name);

  /** Someone who adds attributes to items of the file until the undo has ended. */
  const write = async (writer: number, isOver: () => boolean): Promise<void> => {
    for (let number = 0; !isOver(); number++) {
      const item = items[Math.floor(random() * ITEMS * 0.6)]!;
      const attribute = `w${writer}-${number}`;
      // A field of the file, of which the undo then keeps a part.
      const isTyping = item.isOlder && random() < 0.3;
      if (isTyping) item.types.add(attribute);
      const body = { work_item: { custom_attributes: { [attribute]: number }, ...(isTyping && { type: attribute }) } };
      let hasStopped = false;
      const onStop = (): void => void (hasStopped = true);
      const response = await call("write", "updateWorkItem", { params: { id: idOf(item) }, body }, () => true, {
        onStop,
      });
      if (response?.status === 200) {
        item.written.add(attribute);
        item.hasType ||= isTyping;
        oracle.acknowledged += 1;
        // Where a later attempt finds no item, a frozen one may still find it.
      } else if (response?.status !== 404 || hasStopped) item.isUncertain = true;
      await world.sleep(1000 + random() * 15_000);
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

  /** The counters of an ended undo are those of its list, which has each item once. */
  const check = async (job: Job): Promise<void> => {
    const response = await call("list", "getWorkItemUploadResults", { params: { id: job.id } });
    const { url } = (response?.body.data ?? {}) as { readonly url?: string | null };
    const text = url ? await uploads.listOf({ organization, id: job.id }, "results", url) : "";
    const lines: string[][] = parse(text, { bom: true, from: 2 });
    const counted = Object.fromEntries(COUNTERS.map((name) => [name, 0]));
    for (const [, , , outcome = ""] of lines) counted[OUTCOMES[outcome as keyof typeof OUTCOMES] ?? "failed"]! += 1;
    const isExact = COUNTERS.every((name) => counted[name] === job[`${name}_rows`]);
    const names = new Set(lines.map(([, name]) => name));
    const isWhole = job.status !== "completed" || (lines.length === job["total_rows"] && job["failed_rows"] === 0);
    if (!isExact || !isWhole || names.size !== lines.length) oracle.report("doubled", { job, counted, text });
  };

  const undo = async (id: string): Promise<void> => {
    const ask = async (isDryRun: boolean): Promise<string | undefined> => {
      const body = isDryRun ? { undo: { dry_run: true } } : {};
      const response = await call("undo", "undoWorkItemUpload", { params: { id }, body });
      if (response?.status !== 202) {
        oracle.report("wrong", { undo: response?.text });
        return undefined;
      }
      return (response.body.data as Job).id;
    };
    if (random() < 0.4) {
      const trial = await ask(true);
      const job = trial && (await follow("trial", trial, Infinity));
      if (job) await check(job);
    }
    const asked = new Set<string>();
    for (const cancelsAfter of [random() < 0.4 ? random() * 2 * MINUTE_MS : Infinity, Infinity]) {
      const undoId = await ask(false);
      if (undoId === undefined) return;
      asked.add(undoId);
      if ((await ask(false)) !== undoId) oracle.report("doubled", { undos: id });
      const job = await follow("undo", undoId, cancelsAfter);
      if (!job) return;
      await check(job);
      isUndone = job.status === "completed";
      if (isUndone) return;
    }
    // The first was cancelled: the second is another one, which completes.
    oracle.report("wrong", { asked: [...asked], "is not undone": id });
  };

  return {
    /** Makes items, and a file that changes them and makes others, then undoes it while others write. */
    run: async (): Promise<void> => {
      const work_items = items
        .filter(({ isOlder }) => isOlder)
        .map(({ name }) => ({ external_id: name, type: "before", custom_attributes: { base: 1 } }));
      const hasAll = ({ body }: Response): boolean =>
        (body.data as { readonly summary?: { readonly error: number } } | undefined)?.summary?.error === 0;
      // One that was frozen would write once more after others have written.
      await call("prepare", "applyWorkItemBatch", { body: { work_items } }, hasAll, { isCalm: true });
      let isOver = false;
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer, () => isOver));
      const rows = items.map(({ name }) => `${name},imported,Imp\n`).join("");
      const request = multipart(`external_id,type,agent_name\n${rows}`, {});
      const headers = { ...request.headers, "idempotency-key": `undoer ${seed}` };
      const posted = await call("upload", "uploadWorkItems", { ...request, headers });
      const id = (posted?.body.data as Job | undefined)?.id;
      if (posted?.status !== 202 || id === undefined) oracle.report("wrong", { upload: posted?.text });
      else {
        uploads.announce({ organization, id });
        const job = await follow("import", id, random() < 0.3 ? random() * MINUTE_MS : Infinity);
        if (job) await undo(id);
      }
      isOver = true;
      await Promise.all(writers);
    },
    /** Looks at every item when nothing happens any more. */
    check: async (): Promise<void> => {
      for (const item of items) {
        const response = await call("look", "getWorkItem", { params: { id: idOf(item) } });
        const found = response?.body.data as
          | {
              readonly type: string;
              readonly agent: { readonly name: string | null };
              readonly custom_attributes: object;
            }
          | undefined;
        const { written, types, hasType, isOlder, isUncertain, name } = item;
        const taken = [...written].filter((attribute) => !found || !Object.hasOwn(found.custom_attributes, attribute));
        if (taken.length > 0) oracle.report("undone", { "writes of others were taken back": taken, name, found });
        if (!isUndone) continue;
        const isBefore = found && found.agent.name === null && Object.hasOwn(found.custom_attributes, "base");
        const isOfOthers = types.has(found?.type ?? "");
        const isRight = isBefore && (isOfOthers || (!hasType && found.type === "before"));
        if (isOlder && !isRight) oracle.report(hasType ? "undone" : "lost", { name, types: [...types], found });
        // One that the file made stays whole if someone has written to it, and is deleted otherwise.
        const isWhole = found?.type === "imported" && found.agent.name === "Imp";
        if (!isOlder && !isUncertain && (written.size > 0 ? !isWhole : found !== undefined)) {
          oracle.report(written.size > 0 ? "undone" : "lost", { name, written: [...written], found });
        }
      }
    },
  };
}
