import { isDeepStrictEqual } from "node:util";
import { parse } from "csv-parse/sync";
import { workItemId } from "../../../lib/identity.ts";
import { multipart } from "../../support/uploads/multipart.ts";
import type { RouteName } from "../../support/handlers.ts";
import type { ApiRequest } from "../../support/organization.ts";
import { randomFrom } from "../../support/random.ts";
import type { State } from "../oracle/item-operations.ts";
import type { Call } from "../oracle/oracle.ts";
import { itemInput } from "../oracle/inputs.ts";
import { applyInput, type ItemInput } from "../oracle/reference-item.ts";
import { changesBetween, countChanged, isShown } from "../oracle/shown-changes.ts";
import type { Customer, Response } from "../world/service.ts";
import { CLOCK_OFF_MAX_MS, type Hostility } from "../world/hostilities.ts";
import { LAG_MAX_MS } from "../world/lagging-index.ts";
import { createItemCaller, type Scene, seriesOf, untilAnswered } from "./item-caller.ts";
import { FILE_KINDS, makeUploadFile, OTHER_COLUMN, type UploadFile, type UploadRow } from "./upload-file.ts";

/** Statuses of a job that does not change any more. */
const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
const OUTCOMES = ["created", "updated", "unchanged", "restored"] as const;
const COUNTERS = ["succeeded_rows", "failed_rows", ...OUTCOMES.map((name) => `${name}_rows` as const)] as const;
type Job = Readonly<Record<(typeof COUNTERS)[number] | "total_rows", number>> & {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  /** Of dry runs only. */
  readonly changed_fields?: Readonly<Record<string, number>>;
};
/** What a dry run should say of a row: its outcome, and what it changes in its item. */
interface Tried {
  readonly outcome: string;
  readonly changes: ReturnType<typeof changesBetween>;
}

const MINUTE_MS = 60_000;
/** Largest size that a form may announce, in bytes: its file may arrive for six hours. */
const LARGEST_FILE_BYTES = 5 * 1024 ** 3;
const FILE_WITHIN_MS = 14 * MINUTE_MS;
const LARGE_FILE_WITHIN_MS = 5 * 60 * MINUTE_MS;
/** A job that takes longer does not end. */
const ENDS_WITHIN_MS = 36 * 60 * MINUTE_MS;
/** A job whose worker died continues within two minutes, as docs/reference says, and a sweep at most a minute late. */
const RESUMED_WITHIN_MS = 3 * MINUTE_MS;
/** A job that saves nothing ends within this time, and again a sweep later. */
const SAVED_WITHIN_MS = 11 * MINUTE_MS;
/** Where nothing else goes wrong, no row is applied again. */
const HARMLESS: ReadonlySet<Hostility> = new Set(["slowness", "lag", "receivers"]);
/** Items of a file that others change too while it is applied. */
const SHARED_MAX = 6;

interface JobName {
  readonly organization: string;
  readonly id: string;
}
/** What happens to files and jobs beside the calls. */
export interface Uploads {
  /** Whether the bucket takes only a file of the size that its form announces. */
  readonly checksSize: boolean;
  /** Jobs whose items take seconds for each request. */
  readonly slow: Set<string>;
  /** Posts the file of a form, as `meta.upload` of the response says. @returns whether it is there */
  postFile(job: JobName, text: string, meta: unknown): Promise<boolean>;
  /** Sends S3's message that the file has come. */
  announce(job: JobName): void;
  /** Since when a job has had neither worker nor message, in milliseconds since the epoch; undefined while it has one. */
  idleSince(job: JobName): number | undefined;
  /** How often it was claimed in a row without progress, or its messages lost. */
  lossesOf(job: JobName): Promise<number>;
  /** @param url of the list */
  listOf(job: JobName, name: "results" | "failed_rows", url: string): Promise<string>;
}

/**
 * Uploads files, one after the other, while others change the same items. Each job must end with exact counters and lists:
 * each row counts once, and does what the list of results says.
 */
export function createUploader(
  scene: Scene & { readonly uploads: Uploads },
  customer: Customer,
  names: string[],
  seed: number,
) {
  /** Items that others change too, and don't create anew under other names. */
  const known = [...names];
  const nextInput = seriesOf(itemInput, seed + 1);
  const { world, service, oracle, uploads } = scene;
  const { chosen } = world.hostilities;
  const { id: organization } = customer.organization;

  /** By what its worker's clock may say, a row may be written that much before its file came, or later than now. */
  const off = chosen.has("clocks") ? CLOCK_OFF_MAX_MS : 0;
  const earliest = (): number => world.clock() - off;
  const latest = (): number => world.clock() + off;

  const call = async (what: string, route: RouteName, request: ApiRequest): Promise<Response | undefined> =>
    untilAnswered(
      scene,
      customer,
      what,
      [],
      (options) => service.call(customer, route, request, options),
      () => true,
    );

  /** Makes the items that a file finds. */
  const prepare = async ({ singles }: UploadFile): Promise<void> => {
    const caller = createItemCaller(scene, customer, known, seed);
    const existing = singles.filter(({ kind }) => kind === "other" || kind === "gone" || kind === "kept");
    const inputs = existing.map(({ kind, input: { events: _events, ...fields } }): ItemInput => {
      if (kind === "kept") return fields;
      // Most rules of the status are about items without completed_at. A file may clear the attribute.
      const before: Partial<ItemInput> =
        world.random() < 0.5
          ? nextInput()
          : {
              status: world.pick(["cancelled", "completed", "pending"]),
              custom_attributes: { [OTHER_COLUMN]: "before" },
            };
      return { ...before, external_id: fields.external_id };
    });
    if (inputs.length > 0) await caller.apply(inputs, false);
    for (const { input } of existing.filter(({ kind }) => kind === "gone")) await caller.remove(input.external_id);
  };

  /** What a dry run should say of rows whose items nobody changes meanwhile. */
  const tried = (rows: readonly UploadRow[]): (Tried | undefined)[] => {
    const states = new Map<string, State>();
    return rows.map(({ input, isValid }) => {
      if (!isValid) return { outcome: "error", changes: {} };
      const { external_id: name } = input;
      const { states: all, isSettled } = oracle.item(organization, name).history;
      // Of an item that others know, or that isn't known for sure, anything may be said.
      if (all.length !== 1 || !isSettled || known.includes(name)) return undefined;
      const before = states.has(name) ? states.get(name) : all[0];
      const { outcome, item } = applyInput(before, input, "");
      states.set(name, item);
      return { outcome, changes: before ? changesBetween(before, item) : {} };
    });
  };

  const upload = async (number: number): Promise<void> => {
    const random = randomFrom(seed + number);
    const kind = FILE_KINDS[Math.floor(random() * FILE_KINDS.length)]!;
    const isDryRun = random() < 0.2;
    const isForm = random() < 0.4;
    const isSlow = random() < 0.1;
    const isLarge = isForm && !isSlow && !uploads.checksSize && random() < 0.4;
    const cancelsAfter = !isSlow && random() < 0.25 ? random() * 3 * MINUTE_MS : undefined;
    const isRepeating = cancelsAfter === undefined && !isSlow;
    const prefix = `f${seed}x${number}`;
    const file = makeUploadFile(random, kind, isRepeating, { isSmall: isSlow, prefix, known });
    await prepare(file);
    // Others change some of its items too.
    const shared = isDryRun ? [] : file.singles.slice(0, SHARED_MAX).map(({ input }) => input.external_id);
    names.splice(known.length, names.length, ...shared);

    const { text, mapping } = file;
    const options = { ...(mapping && { mapping }), dry_run: isDryRun };
    const size = isLarge ? LARGEST_FILE_BYTES : Buffer.byteLength(text);
    const request = isForm
      ? { body: { upload: { filename: "items.csv", size, ...options } } }
      : multipart(text, { ...options, dry_run: String(isDryRun) });
    const headers = { ...("headers" in request && request.headers), "idempotency-key": prefix };
    const expected = isDryRun ? tried(file.rows) : [];
    /** The operations of the rows by item, which can happen from the moment on at which the file is there. */
    let operations = new Map<string, { readonly call: Call; readonly rows: readonly UploadRow[] }>();
    const begin = (): void => {
      if (isDryRun) return;
      const valid = file.rows.filter(({ isValid }) => isValid);
      operations = new Map(
        [...Map.groupBy(valid, ({ input }) => input.external_id)].map(([externalId, own]) => {
          const inputs = own.map(({ input }): ItemInput => input);
          return [
            externalId,
            { call: oracle.begin(organization, { kind: "rows", externalId, inputs }, earliest), rows: own },
          ];
        }),
      );
    };
    if (!isForm) begin();
    const posted = await call("upload", "uploadWorkItems", { ...request, headers });
    if (posted?.status !== 202) return oracle.report("wrong", { upload: posted?.text });
    const { id } = posted.body.data as Job;
    const job = { organization, id };
    oracle.jobs.set(organization, [...(oracle.jobs.get(organization) ?? []), id]);
    if (isSlow) uploads.slow.add(id);
    const requestedAt = world.clock();
    if (isForm) {
      await world.sleep(random() * (isLarge ? LARGE_FILE_WITHIN_MS : FILE_WITHIN_MS));
      begin();
      for (let form: Response | undefined = posted; form !== undefined;) {
        if (await uploads.postFile(job, text, form.body.meta)) break;
        // A request that is repeated gives the form's present address.
        form = await call("upload", "uploadWorkItems", { ...request, headers });
      }
    }
    // S3's events come twice, late or not at all.
    for (const chance of isLarge ? [0.9] : [0.6, 0.3]) if (random() < chance) uploads.announce(job);
    const postedAt = world.clock();

    let seen: Job | undefined;
    let saved = { at: postedAt, counters: "" };
    let hasReported = false;
    const poll = async (): Promise<Job | undefined> => {
      const response = await call("poll", "getWorkItemUpload", { params: { id } });
      if (response?.status !== 200) {
        oracle.report("wrong", { poll: response?.text });
        return undefined;
      }
      const now = response.body.data as Job;
      const last = seen;
      seen = now;
      if (last !== undefined) {
        const lost = Object.entries(last.changed_fields ?? {}).filter(
          ([name, rows]) => (now.changed_fields?.[name] ?? 0) < rows,
        );
        if (COUNTERS.some((name) => now[name] < last[name]) || lost.length > 0) oracle.report("undone", { last, now });
        if (ENDED.includes(last.status) && !isDeepStrictEqual(now, last)) oracle.report("undone", { last, now });
      }
      if (now.succeeded_rows + now.failed_rows > now.total_rows) oracle.report("doubled", { now });
      const counters = JSON.stringify([now.status, ...COUNTERS.map((name) => now[name])]);
      if (counters !== saved.counters) saved = { at: world.clock(), counters };
      return now;
    };
    /** A job without worker and message must get one in time. */
    const watch = async (now: Job): Promise<void> => {
      const idleSince = uploads.idleSince(job);
      // A worker whose clock is ahead delays what comes next.
      if (idleSince === undefined || hasReported || chosen.has("clocks")) return;
      const age = (world.clock() - requestedAt) / 10;
      const limit = isForm && now.status === "pending" ? Math.max(MINUTE_MS, age) + 2 * MINUTE_MS : RESUMED_WITHIN_MS;
      // The sweep sees the job when the index shows it.
      const lag = chosen.has("lag") ? LAG_MAX_MS : 0;
      const idle = world.clock() - Math.max(idleSince, postedAt) - lag;
      if (idle <= limit || (await world.outside(() => uploads.lossesOf(job))) > 1) return;
      hasReported = true;
      oracle.report("lost", { "not resumed for": idle, isForm, now });
    };

    let hasCancelled = false;
    for (;;) {
      const now = await poll();
      if (now === undefined) return;
      if (ENDED.includes(now.status)) break;
      await watch(now);
      if (world.clock() - postedAt > ENDS_WITHIN_MS) return oracle.report("lost", { "does not end": now });
      // A job that a clock dates ahead is looked for when its time has come.
      if (isSlow && world.clock() - saved.at > SAVED_WITHIN_MS + off)
        return oracle.report("lost", { "saves nothing and does not end": now });
      if (cancelsAfter !== undefined && !hasCancelled && world.clock() - postedAt > cancelsAfter) {
        hasCancelled = true;
        const response = await call("cancel", "cancelWorkItemUpload", { params: { id } });
        if (response?.status !== 200 && response?.status !== 409) oracle.report("wrong", { cancel: response?.text });
      }
      await world.sleep(3000 + random() * 12_000);
    }
    // By a clock that is ahead, a form ends before its file is there.
    const listed = await call("list jobs", "listWorkItemUploads", { query: { limit: 100, status: seen!.status } });
    const own = (listed?.body.data as readonly Job[] | undefined)?.find((each) => each.id === id);
    // The index of jobs may be behind.
    if (own === undefined ? !chosen.has("lag") : own.status !== seen!.status) {
      oracle.report("wrong", { listed: own, job: seen });
    }
    await check(job, seen!, {
      file,
      operations,
      expected,
      isDryRun,
      mayForget: isSlow || chosen.size === 0 || ![...chosen].every((name) => HARMLESS.has(name)),
      mayFail: isSlow || (isForm && off > 0),
      mayCancel: hasCancelled,
    });
    // What wakes up afterwards changes nothing.
    await world.sleep(5 * MINUTE_MS * random());
    await poll();
  };

  const check = async (
    job: { readonly organization: string; readonly id: string },
    now: Job,
    {
      file: { rows, delimiter },
      operations,
      expected,
      isDryRun,
      mayForget,
      mayFail,
      mayCancel,
    }: {
      readonly file: UploadFile;
      readonly operations: ReadonlyMap<string, { readonly call: Call; readonly rows: readonly UploadRow[] }>;
      readonly expected: readonly (Tried | undefined)[];
      readonly isDryRun: boolean;
      /** Whether workers may find rows again, of which a dry run then shows no values. */
      readonly mayForget: boolean;
      readonly mayFail: boolean;
      readonly mayCancel: boolean;
    },
  ): Promise<void> => {
    const isComplete = now.status === "completed";
    const isAllowed = isComplete || (now.status === "failed" && mayFail) || (now.status === "cancelled" && mayCancel);
    // A cancellation that comes too late races with the end: lists may be cut short.
    if (!isAllowed || (isComplete && now.error !== undefined && !mayCancel)) oracle.report("lost", { now });
    const listOf = async (name: "results" | "failed_rows") => {
      const route = name === "results" ? "getWorkItemUploadResults" : "getWorkItemUploadFailedRows";
      const response = await call("list", route, { params: { id: job.id } });
      const { rows: told, url } = (response?.body.data ?? {}) as {
        readonly rows?: number;
        readonly url?: string | null;
      };
      const [header = [], ...lines]: string[][] = parse(url ? await uploads.listOf(job, name, url) : "", {
        bom: true,
        delimiter: name === "results" ? "," : delimiter,
        skip_empty_lines: true,
      });
      return { header, lines, told };
    };
    const { header, lines, told } = await listOf("results");
    const results = new Map(lines.map(([row, ...cells]) => [Number(row), cells]));
    const failed = await listOf("failed_rows");
    const listed = [...results.values()].map(([, , outcome]) => outcome);
    const counted = Object.fromEntries(
      OUTCOMES.map((outcome) => [`${outcome}_rows`, listed.filter((each) => each === outcome).length]),
    );
    const wrong: object[] = [];
    const expect = (what: string, actual: unknown, right: unknown): void => {
      if (!isDeepStrictEqual(actual, right)) wrong.push({ [what]: actual, expected: right });
    };
    const { succeeded_rows, failed_rows, total_rows } = now;
    expect("counted", Object.fromEntries(OUTCOMES.map((each) => [`${each}_rows`, now[`${each}_rows`]])), counted);
    expect("changed", now.changed_fields, isDryRun ? countChanged(lines.map((line) => line[4] ?? "")) : undefined);
    const columns = ["_row", "external_id", "id", "outcome", ...(isDryRun ? ["changes"] : [])];
    expect("header", header, lines.length > 0 ? columns : []);
    expect("succeeded", succeeded_rows, listed.filter((outcome) => outcome !== "error").length);
    expect("failed", failed_rows, listed.filter((outcome) => outcome === "error").length);
    if (isComplete) expect("total", [total_rows, succeeded_rows + failed_rows], [rows.length, rows.length]);
    // The cells of the report end with row, error, column, value and code.
    const failedRows = rows.filter(({ number }) => results.get(number)?.[2] === "error");
    const width = Math.max(...rows.map(({ cells }) => cells.length));
    expect(
      "failed rows",
      failed.lines.map((cells) => [...cells.slice(0, -5), Number(cells.at(-5))]),
      failedRows.map(({ cells, number }) => [
        ...cells,
        ...Array.from({ length: width - cells.length }, () => ""),
        number,
      ]),
    );
    expect("rows of the lists", [told, failed.told], [results.size, failed_rows]);
    for (const [place, row] of rows.entries()) {
      const result = results.get(row.number);
      if (result === undefined) continue;
      const [externalId, id, outcome, changes = ""] = result;
      const right = row.isValid ? workItemId(organization, row.input.external_id) : "";
      expect("row", [externalId, id], [row.input.external_id, right]);
      if ((outcome === "error") === row.isValid) wrong.push({ row: row.number, outcome });
      const shown = expected[place];
      if (shown === undefined) continue;
      if (shown.outcome !== outcome || !isShown(changes, shown.changes, mayForget))
        wrong.push({ tried: row, outcome, changes, shown });
    }
    if (wrong.length > 0) oracle.report("wrong", { now, wrong: wrong.slice(0, 5), of: wrong.length });
    for (const { call: operation, rows: own } of operations.values()) {
      const outcomes = own.map(({ number }) => results.get(number)?.[2]);
      oracle.tell(
        operation.item,
        `rows ${JSON.stringify(own.map(({ input }) => input)).slice(0, 300)} → ${outcomes.join()}`,
      );
      if (outcomes.every((outcome) => outcome !== undefined)) {
        oracle.end(
          operation,
          latest,
          outcomes.map((status) => ({ status })),
        );
      } else if (isComplete) oracle.report("lost", { "not in the results": operation.item.externalId, now });
      // A worker that was frozen while it was writing may still write what it was about to.
      else world.at(world.clock() + 6 * MINUTE_MS, () => oracle.end(operation, latest));
    }
  };

  return {
    run: async (count: number): Promise<void> => {
      for (let number = 0; number < count; number++) await upload(number);
    },
  };
}
