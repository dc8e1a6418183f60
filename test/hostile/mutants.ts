import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RULES } from "./rule-mutants.ts";
import type { Story } from "./run-world.ts";
import type { Hostility } from "./world/hostilities.ts";

const ROOT = join(import.meta.dirname, "../..");

/** A defect that the service has had, or could have: a change of its text. */
interface Mutant {
  /** What goes wrong with it. */
  readonly defect: string;
  readonly file: string;
  readonly text: string;
  readonly instead: string;
  /** The world finds it if these go wrong, or a test does that holds it by itself. */
  readonly foundBy: readonly Hostility[] | `test/${string}.test.ts`;
  /** What happens in the worlds that find it. @default what each seed chooses */
  readonly story?: Story;
}

/** In worlds in which nothing gets lost, a changed rule soon contradicts a response. */
const ruleMutants = Object.entries(RULES).flatMap(([file, rules]) =>
  Object.entries(rules).map(([name, [defect, text, instead, test]]): [string, Mutant] => [
    name,
    { defect, file, text, instead, foundBy: test ?? ["slowness"], story: "imports" },
  ]),
);

/** Each of these must be found. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  ...Object.fromEntries(ruleMutants),
  unknown: {
    defect: "a write whose response was lost is planned again",
    file: "lib/store/optimistic-write.ts",
    text: 'kind === "unknown") entry.uncertain.push(attempt);',
    instead: 'kind === "unknown") undefined;',
    foundBy: ["silence"],
  },
  marks: {
    defect: "items don't remember which rows they have seen",
    file: "lib/work-items/write-targets.ts",
    text: "        applied?.attributes(),\n",
    instead: "",
    foundBy: ["deaths", "messages"],
  },
  "trial marks": {
    defect: "a dry run forgets which fields a row changes when its worker dies",
    file: "lib/work-items/applied-rows.ts",
    text: "${CODES[outcome]}${letters}`",
    instead: "${CODES[outcome]}`",
    foundBy: ["deaths", "messages"],
    story: "imports",
  },
  margin: {
    defect: "a first load begins at a position that its list may lag behind",
    file: "lib/changes/feed-cursor.ts",
    text: "const MARGIN_MS = 15 * 60 * 1000;",
    instead: "const MARGIN_MS = 0;",
    foundBy: ["lag"],
  },
  adopted: {
    defect: "an undo deletes what its upload created, though others have changed it",
    file: "lib/work-items/undo/layers.ts",
    text: "  adopt(layers, changes.keys());\n",
    instead: "",
    foundBy: [],
  },
  "undo marks": {
    defect: "an undo doesn't find again what it has done",
    file: "lib/work-items/undo/undo-record.ts",
    text: "if (done === undefined) return",
    instead: "if (done === undefined || done.names.length >= 0) return",
    foundBy: [],
    story: "undos",
  },
  "undo job": {
    defect: "the undo after a cancelled one counts again what that has done",
    file: "lib/uploads/chain/claimed-shard.ts",
    text: "        job,\n        createdAt",
    instead: "        job: undone?.id ?? job,\n        createdAt",
    foundBy: [],
    story: "undos",
  },
  "undo names": {
    defect: "what an undo has kept is overwritten by another undo",
    file: "lib/work-items/applied-rows.ts",
    text: ".filter(([other]) => other !== job && !ended.has(other));",
    instead:
      ".filter(([other]) => other !== job && !ended.has(other)).map(([other, text]) => [other, text.split('=')[0]]);",
    foundBy: ["deaths"],
    story: "undos",
  },
  "undo both": {
    defect: "a row of an undo counts what was done to its item, whatever was done to its event",
    file: "lib/work-items/undo/undo-work-items.ts",
    text: "const parts = [item, ...events].map(",
    instead: "const parts = [item].map(",
    foundBy: [],
    story: "undos",
  },
  "undo first": {
    defect: "an item's other events are undone after it",
    file: "lib/work-items/undo/undo-work-items.ts",
    text: "if (hasEvents && !dryRun) {",
    instead: "if (!hasEvents && !dryRun) {",
    foundBy: "test/lib/work-items/undo/undo-work-items.test.ts",
  },
  "undo event": {
    defect: "of an item that the import didn't change, no event is undone",
    file: "lib/work-items/undo/undo-work-items.ts",
    text: "await write(events.values(), found);",
    instead: "",
    foundBy: "test/scenarios/undo.test.ts",
  },
  "undo write": {
    defect: "a record does not remember a row if nothing of it changes",
    file: "lib/work-items/undo/undo-record.ts",
    text: "const isOpen = plan.undo !== undo;",
    instead: 'const isOpen = plan.undo !== undo && outcome !== "kept" && outcome !== "unchanged";',
    foundBy: [],
    story: "undos",
  },
  "undo date": {
    defect: "the results of an undo don't name a date that others gave to a completion that is taken back",
    file: "lib/work-items/undo/undo-record.ts",
    text: "const becomesUnfinished = ",
    instead: "const becomesUnfinished = plan.kept.size < 0 && ",
    foundBy: [],
    story: "undos",
  },
  "undo cleared": {
    defect: "an undo doesn't bring back attributes that its import removed",
    file: "lib/work-items/changed-fields.ts",
    text: "new Set([...from.keys(), ...to.keys()])",
    instead: "to.keys()",
    foundBy: [],
    story: "undos",
  },
  "undo forget": {
    defect: "what an item has forgotten of an import counts as unchanged",
    file: "lib/work-items/undo/plan-undo.ts",
    text: "if (isDropped(undo, job)) return",
    instead: "if (isDropped(undo, job) && false) return",
    foundBy: "test/scenarios/undo.test.ts",
  },
  "undo next": {
    defect: "rows of the chunk in which an import was cancelled are not undone",
    file: "lib/uploads/chain/undo-chunks.ts",
    text: "Math.min(has, next + 1)",
    instead: "Math.min(has, next)",
    foundBy: "test/scenarios/undo-workers.test.ts",
  },
  "undo quiet": {
    defect: "an undo begins while workers of its import may still write",
    file: "lib/uploads/job/undos.ts",
    text: "return Date.parse(endedAt) + CLAIM_MS;",
    instead: "return Date.parse(endedAt);",
    foundBy: "test/scenarios/undo-workers.test.ts",
  },
  "undo live": {
    defect: "applied rows are forgotten while their job still runs",
    file: "lib/work-items/applied-rows.ts",
    text: "other !== job && !ended.has(other)",
    instead: "other !== job && ended.has(other)",
    foundBy: [],
    story: "undos",
  },
  "undo many": {
    defect: "a record keeps the rows of one other job only",
    file: "lib/work-items/applied-rows.ts",
    text: ".filter(([other]) => other !== job && !ended.has(other));",
    instead: ".filter(([other]) => other !== job && !ended.has(other)).slice(-1);",
    foundBy: "test/lib/work-items/undo/undo-work-items.test.ts",
  },
  "undo cas": {
    defect: "a window is counted although the claim is another worker's by now",
    file: "lib/uploads/job/shard-store.ts",
    text: 'const IS_OWN = "#claim = :claim AND #claimed_by = :claimed_by";',
    instead: 'const IS_OWN = "(#claim >= :claim OR #claimed_by = :claimed_by)";',
    foundBy: "test/scenarios/upload-terms.test.ts",
  },
  "undo close": {
    defect: "a cancelled undo doesn't count what a dead worker has undone",
    file: "lib/uploads/chain/claimed-shard.ts",
    text: "await this.#applyRows(rows, true), false);",
    instead: "rows.map(() => undefined), false);",
    foundBy: "test/scenarios/undo-workers.test.ts",
  },
  "undo open": {
    defect: "a cancelled undo counts rows of which a part is still to be undone",
    file: "lib/work-items/undo/undo-work-items.ts",
    text: "parts.some(({ isDone }) => isDone) && !parts.some(({ isOpen }) => isOpen)",
    instead: "parts.some(({ isDone }) => isDone)",
    foundBy: "test/lib/work-items/undo/undo-work-items.test.ts",
  },
  "undo rows": {
    defect: "rows without an ID are not counted",
    file: "lib/uploads/chain/undo-rows.ts",
    text: 'if (externalId === "" && !recognizesOnly)',
    instead: 'if (externalId === "" && recognizesOnly)',
    foundBy: [],
    story: "undos",
  },
  "undo limit": {
    defect: "an undo stores attributes that are too large for everyone else",
    file: "lib/work-items/undo/plan-undo.ts",
    text: "const isTooLarge = keepTooLarge(stored, back, layers);",
    instead: "const isTooLarge = false;",
    foundBy: "test/scenarios/undo.test.ts",
  },
  replay: {
    defect: "a row that is applied again undoes a PATCH or brings back a deleted item, if only its event remembers it",
    file: "lib/work-items/apply-work-items.ts",
    text: "for (const event of events.values()) for (const row of appliedRowsIn(event, source.job)) withEvents.add(row);",
    instead: "",
    foundBy: "test/lib/uploads/chain/replayed-rows.test.ts",
  },
  "replay order": {
    defect: "such a row is planned on an item that has changed since its event was read",
    file: "lib/work-items/apply-work-items.ts",
    text: "const stored = await records.read(itemKeys);\n      const events = await records.read(eventKeys);",
    instead: "const events = await records.read(eventKeys);\n      const stored = await records.read(itemKeys);",
    foundBy: "test/lib/uploads/chain/replayed-rows.test.ts",
  },
  "replay again": {
    defect: "such a row's event isn't read again with its item",
    file: "lib/work-items/apply-work-items.ts",
    text: "...(window && {\n          read:",
    instead: "...(window && false && {\n          read:",
    foundBy: "test/lib/uploads/chain/replayed-rows.test.ts",
  },
  publish: {
    defect: "a file that is in chunks is published again, by a worker that was slow",
    file: "lib/uploads/job/upload-store.ts",
    text: "resent: 0,\n      },\n      condition: IS_UNREAD,",
    instead: "resent: 0,\n      },\n      condition: IS_OPEN,",
    foundBy: "test/lib/uploads/chain/split.test.ts",
  },
  cut: {
    defect: "two workers cut the same file into different chunks",
    file: "lib/uploads/chain/chunk-writer.ts",
    text: "shard.rows >= this.#limits.rows ||",
    instead: "shard.rows >= this.#limits.rows * Math.random() ||",
    foundBy: "test/lib/uploads/chain/split.test.ts",
  },
  "next chunk": {
    defect: "a worker that read the shard before the chunk was counted claims it for that chunk again",
    file: "lib/uploads/job/shard-store.ts",
    text: '"(attribute_not_exists(#next) OR #next = :next)"',
    instead: '"(attribute_not_exists(#next) OR #next >= :next)"',
    foundBy: "test/scenarios/upload-terms.test.ts",
  },
  lines: {
    defect: "the lines of rows are not named by the claim that counts them",
    file: "lib/uploads/files/upload-objects.ts",
    text: "/${list}/${shard}-${claim}`",
    instead: "/${list}/${shard}-${claim > 0 ? 1 : 0}`",
    foundBy: "test/scenarios/cancelled-uploads.test.ts",
  },
  "refused for good": {
    defect: "a job that the store refuses never ends",
    file: "lib/uploads/job/claim.ts",
    text: "return since > 0 && now - since > WAITS_MAX_MS;",
    instead: "return since > 0 && now - since > Infinity;",
    foundBy: "test/scenarios/upload-waits.test.ts",
  },
  alive: {
    defect: "a worker that the store refuses counts as dead",
    file: "lib/uploads/job/shard-store.ts",
    text: "const attempts = Math.max(0, shard.attempts - 1);",
    instead: "const attempts = shard.attempts;",
    foundBy: "test/scenarios/upload-waits.test.ts",
  },
  "last pass": {
    defect: "an erasure ends while a worker still runs that has read the organization before",
    file: "apps/operator/data/jobs-before.ts",
    text: "export const WORKERS_END_WITHIN_MS = 16 * 60_000;",
    instead: "export const WORKERS_END_WITHIN_MS = 0;",
    foundBy: "test/apps/operator/data/erase-organization.test.ts",
  },
  late: {
    defect: "a worker whose claim is over still writes",
    file: "lib/uploads/chain/claimed-shard.ts",
    text: "if (isRetry || clock() >= this.#shard.busy_until - CLAIM_MARGIN_MS) await this.#renew();",
    instead: "",
    foundBy: "test/scenarios/cancelled-uploads.test.ts",
  },
  resend: {
    defect: "a message that is lost isn't sent again",
    file: "lib/uploads/chain/sweep.ts",
    text: "if (lost.length === 0) return;",
    instead: "return;",
    foundBy: "test/scenarios/upload-endings.test.ts",
  },
  cells: {
    defect: "each source of a mapping goes through a cell of a megabyte",
    file: "lib/uploads/csv/cells.ts",
    text: "const word = cells.compared[index];",
    instead: "const word = undefined;",
    foundBy: "test/lib/uploads/mapping/row-cost.test.ts",
  },
  offset: {
    defect: "+99:99 is an offset from UTC",
    file: "lib/instant.ts",
    text: "if (Number(hours) > 23 || Number(minutes) > 59) return Number.NaN;",
    instead: "",
    foundBy: "test/lib/uploads/mapping/date-time.test.ts",
  },
  century: {
    defect: "two digits of a year are those of 1950 to 2049",
    file: "lib/uploads/mapping/date-pattern.ts",
    text: "const REFERENCE = utc(Date.UTC(2001, 0, 1));",
    instead: "const REFERENCE = utc(Date.UTC(2000, 0, 1));",
    foundBy: "test/lib/uploads/mapping/date-time.test.ts",
  },
  prototype: {
    defect: "a mapping's value that is the name of a property of every object isn't checked",
    file: "lib/uploads/mapping/check-mapping.ts",
    text: "createAliases(source).find(comparable(value)) === undefined",
    instead: "values[value] === undefined",
    foundBy: "test/lib/uploads/mapping/check-mapping.test.ts",
  },
  columns: {
    defect: "a message lists thousands of columns",
    file: "lib/errors.ts",
    text: "return more > 0 ?",
    instead: "return more > Infinity ?",
    foundBy: "test/lib/uploads/mapping/check-mapping.test.ts",
  },
  pattern: {
    defect: "a date pattern may be so long that one row costs seconds",
    file: "lib/uploads/mapping/check-mapping.ts",
    text: "if (isPattern && format.length > PATTERN_MAX_CHARACTERS) {",
    instead: "if (isPattern && format.length > Infinity) {",
    foundBy: "test/lib/uploads/mapping/row-cost.test.ts",
  },
  "last page": {
    defect: "a first load whose list ends with an empty page gives only records with sequence 0",
    file: "lib/changes/feed-page.ts",
    text: "if (next === undefined) return readAfterList(organization, from, query);",
    instead: "if (next === undefined) return readLogPage(organization, position, query);",
    foundBy: "test/lib/changes/feed.test.ts",
  },
  "damaged event": {
    defect: "no reader with events gets past a damaged one",
    file: "lib/work-items/read-work-item.ts",
    text: "unlessDamaged(() => keyedEventFrom(recordFrom(item)), onDamaged)",
    instead: "keyedEventFrom(recordFrom(item))",
    foundBy: "test/scenarios/damaged-records.test.ts",
  },
  "damaged log": {
    defect: "if the log of one organization is damaged, the changes of all others are logged again at each try",
    file: "lib/changes/change-queue-worker.ts",
    text: "batchItemFailures: failed.flat().map(",
    instead: "batchItemFailures: (failed.flat().length > 0 ? Records : []).map(",
    foundBy: "test/lib/changes/change-queue-worker.test.ts",
  },
  unsent: {
    defect: "records of the stream are acknowledged that aren't in the queue",
    file: "lib/changes/change-stream-worker.ts",
    text: "firstFailed === -1 ? records.length : firstFailed;",
    instead: "firstFailed === -2 ? 0 : records.length;",
    foundBy: "test/lib/changes/change-stream-worker.test.ts",
  },
  "sent once": {
    defect: "a message counts as sent before if it has the same items",
    file: "lib/changes/change-stream-worker.ts",
    text: "MessageDeduplicationId: changes.at(-1)?.record.eventId,",
    instead: 'MessageDeduplicationId: idsOf("ITEM").join().slice(0, 128),',
    foundBy: "test/lib/changes/change-stream-worker.test.ts",
  },
  "early heartbeat": {
    defect: "a heartbeat is noted though records before it aren't in the queue",
    file: "lib/changes/change-stream-worker.ts",
    text: "await noteHeartbeats(records.slice(0, done), clock());",
    instead: "await noteHeartbeats(records, clock());",
    foundBy: "test/lib/changes/change-stream-worker.test.ts",
  },
  "late heartbeat": {
    defect: "no gap is put for what the stream has dropped",
    file: "lib/changes/change-stream-worker.ts",
    text: "now - time > STREAM_KEEPS_MS",
    instead: "now - time > Infinity",
    foundBy: "test/lib/changes/change-stream-worker.test.ts",
  },
  "given up": {
    defect: "no gap is put for changes that can't be appended",
    file: "lib/changes/failing-changes.ts",
    text: "    await giveUp(organization, error);\n",
    instead: "",
    foundBy: "test/lib/changes/change-queue-worker.test.ts",
  },
  "gap meanwhile": {
    defect: "a gap that was being put counts for what is given up meanwhile",
    file: "lib/changes/due-gaps.ts",
    text: "SET id = :id, since",
    instead: "SET id = if_not_exists(id, :id), since",
    foundBy: "test/lib/changes/change-queue-worker.test.ts",
  },
  "first failure": {
    defect: "changes are given up early, because an earlier failure still counts",
    file: "lib/changes/change-queue-worker.ts",
    text: "if (receivesOf(records) > 1) await dueGaps.clearFailing(organization);",
    instead: "",
    foundBy: "test/lib/changes/change-queue-worker.test.ts",
  },
  "given twice": {
    defect: "two appenders give the same numbers",
    file: "lib/changes/segment-store.ts",
    text: 'const ConditionExpression = "attribute_not_exists(pk)";',
    instead: 'const ConditionExpression = "attribute_not_exists(pk) OR attribute_exists(pk)";',
    foundBy: "test/lib/changes/change-stream-worker.test.ts",
  },
  nul: {
    defect: "NUL is accepted, and makes an export that can't be imported",
    file: "lib/schema.ts",
    text: 'return value.includes("\\0") ? NUL : undefined;',
    instead: "return undefined;",
    foundBy: "test/functions/nul.test.ts",
  },
  blind: {
    defect: "a key without read gets a batch's items, also where it has sent nothing of them",
    file: "lib/http/endpoint.ts",
    text: 'caller.scopes.includes("read") ? response : withoutRead(route, response, body)',
    instead: "response",
    foundBy: "test/functions/key-scopes.test.ts",
  },
  touched: {
    defect: "a repeated create shows a key without read what others have written since",
    file: "functions/create-work-item.ts",
    text: 'if (!isUntouched) assertScopes(["read", "write"], scopes);',
    instead: "",
    foundBy: "test/functions/key-scopes.test.ts",
  },
  "order of members": {
    defect: "an Idempotency-Key takes the same JSON in another order for another content",
    file: "lib/content-hash.ts",
    text: "names.toSorted()",
    instead: "names",
    foundBy: "test/lib/content-hash.test.ts",
  },
  repeats: {
    defect: "the client repeats a change with If-Match whose response was lost, and reports a 412",
    file: "apps/client/retries.ts",
    text: "if (advice !== undefined) throw",
    instead: "if (advice === null) throw",
    foundBy: "test/apps/client/client.test.ts",
  },
  notifications: {
    defect: "changes that come while a webhook's endpoint is called are never sent",
    file: "lib/webhooks/endpoint-state.ts",
    text: "...(isNewest && { due: undefined, asked: undefined })",
    instead: "due: undefined",
    foundBy: "test/lib/webhooks/endpoint-state.test.ts",
  },
  unnotified: {
    defect: "webhooks aren't notified",
    file: "lib/changes/change-queue-worker.ts",
    text: "await notifyWebhooks(organization, position, [...jobs]);",
    instead: "",
    foundBy: ["receivers"],
  },
  tests: {
    defect: "a test of a webhook is sent while another message is, and takes its claim",
    file: "lib/webhooks/endpoint-state.ts",
    text: 'return waitForCall(state, now) ?? { kind: "send", message: { id: messageId',
    instead: 'return { kind: "send", message: { id: messageId',
    foundBy: ["receivers"],
  },
  upgrade: {
    defect: "a receiver that answers 101 is waited for until the time of the call is over",
    file: "lib/webhooks/call-receiver.ts",
    text: 'sent.on("upgrade", (response, socket) => {',
    instead: 'sent.on("no event", (response, socket) => {',
    foundBy: "test/lib/webhooks/call-receiver.test.ts",
  },
  "late look-up": {
    defect: "the look-up of a webhook's host goes on after its call has ended",
    file: "lib/webhooks/look-up.ts",
    text: 'signal.addEventListener("abort", () => resolver.cancel());',
    instead: "",
    foundBy: "test/lib/webhooks/call-receiver.test.ts",
  },
  "twenty-one": {
    defect: "webhooks that are created at once may be more than 20",
    file: "lib/webhooks/webhook-store.ts",
    text: 'ConditionExpression: "#created = :created",',
    instead: 'ConditionExpression: "#created >= :created OR attribute_exists(pk)",',
    foundBy: "test/lib/webhooks/change-webhook.test.ts",
  },
  "shown again": {
    defect: "a repeated creation of a webhook shows the secret that replaced the one it has shown",
    file: "lib/webhooks/change-webhook.ts",
    text: "if (secret === undefined || previous !== undefined) {",
    instead: "if (secret === undefined) {",
    foundBy: "test/lib/webhooks/change-webhook.test.ts",
  },
  "eleventh secret": {
    defect: "a rotation ends a secret that must sign for 24 hours",
    file: "lib/webhooks/webhook-store.ts",
    text: "if (possibleAt !== undefined) {",
    instead: "if (possibleAt === Infinity) {",
    foundBy: "test/lib/webhooks/change-webhook.test.ts",
  },
  "final dot": {
    defect: "a host with a final dot isn't judged as the host without it",
    file: "lib/webhooks/public-addresses.ts",
    text: String.raw`/^\[|\]$|\.$/g`,
    instead: String.raw`/^\[|\]$/g`,
    foundBy: "test/lib/webhooks/call-receiver.test.ts",
  },
  news: {
    defect: "news of webhooks hold all jobs that have ended, more than SQS takes",
    file: "lib/webhooks/endpoint-state.ts",
    text: "return { jobs: jobs.slice(-JOBS_MAX), more",
    instead: "return { jobs: [...jobs], more",
    foundBy: "test/lib/webhooks/deliver.test.ts",
  },
  due: {
    defect: "the sweep doesn't look for webhooks whose next attempt is due",
    file: "lib/webhooks/endpoint-state.ts",
    text: "return enabled && since !== undefined ?",
    instead: "return enabled && state.attempts === 0 && since !== undefined ?",
    foundBy: "test/lib/webhooks/deliver.test.ts",
  },
};

/** A mutant's file, and its changed text. @throws Error if the file doesn't have the text once: the mutant is out of date */
export function changedFile(name: string): { readonly path: string; readonly source: string } {
  const mutant = MUTANTS[name];
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  const { file, text, instead } = mutant;
  const path = join(ROOT, file);
  const source = readFileSync(path, "utf8");
  if (source.split(text).length !== 2) throw new Error(`${file} does not have "${text}" once`);
  return { path, source: source.replace(text, () => instead) };
}

/** Changes a file of the service as it is loaded. */
export function load(name: string): void {
  const { path, source } = changedFile(name);
  const url = pathToFileURL(path).href;
  registerHooks({
    load: (loaded, context, next) => {
      const result = next(loaded, context);
      return loaded === url ? { ...result, source } : result;
    },
  });
}
