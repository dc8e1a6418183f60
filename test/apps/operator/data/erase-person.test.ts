import { beforeEach, describe, expect, it } from "vitest";
import { erasePerson } from "../../../../apps/operator/data/erase-person.ts";
import { createKey } from "../../../../apps/operator/data/key-management.ts";
import { create as createRecordConversation } from "../../../../functions/record-conversation-upload.ts";
import { objectKeys } from "../../../../lib/uploads/files/upload-objects.ts";
import type { JobKey } from "../../../../lib/uploads/job/upload-record.ts";
import { jobKey } from "../../../../lib/uploads/job/upload-store.ts";
import { workItemId } from "../../../../lib/identity.ts";
import { createTestClock, type TestClock } from "../../../support/clock.ts";
import {
  allRecords,
  createCustomer,
  type Customer,
  everythingIn,
  fill,
  operatorOf,
  overwrite,
} from "../../../support/customer-data.ts";
import { type Fault, freezeIndex, injectFaults } from "../../../support/faults.ts";
import { lambdaContext } from "../../../support/lambda-context.ts";
import { createTestRuntime, type TestRuntime } from "../../../support/runtime.ts";
import { createUploadHarness, splitMessage, sqsEvent } from "../../../support/uploads/upload-harness.ts";
import { createWorkers } from "../../../support/uploads/upload-workers.ts";

const DAY_MS = 86_400_000;
let runtime: TestRuntime;
let acme: Customer;
let other: Customer;
let clock: TestClock;
const sleep = async (milliseconds: number): Promise<void> => {
  clock.advance(milliseconds);
};
beforeEach(async () => {
  clock = createTestClock();
  runtime = await createTestRuntime({ clock });
  acme = await createCustomer(runtime);
  other = await createCustomer(runtime);
  await fill(runtime, acme);
  await fill(runtime, other);
});
const idOf = (externalId: string) => workItemId(acme.organization.id, externalId);
const get = async (externalId: string) =>
  (await acme.send("getWorkItem", { params: { id: idOf(externalId) } })).body.data;
const NOBODY = { id: null, name: null, email: null, external_id: null, avatar_url: null };

describe("erasing a person", () => {
  it("empties agents and actors with the address, whatever its case, also of deleted items", async () => {
    const { updated_at: before } = await get("kept");
    const erased = await erasePerson(runtime, acme.organization.id, "ann@EXAMPLE.com", { sleep });
    expect(erased).toMatchObject({ work_items: 2, events: 1 });
    expect(await get("kept")).toMatchObject({ agent: NOBODY, agents: [], events: [{ actor: NOBODY }] });
    expect((await get("kept")).updated_at > before).toBe(true);
    const deleted = await acme.send("getWorkItem", { params: { id: idOf("deleted") } });
    expect(deleted.status).toBe(404);
    await acme.apply({ external_id: "deleted" });
    expect(await get("deleted")).toMatchObject({ agent: NOBODY, completed_at: "2026-01-02T03:04:05.000Z" });
  });

  it("names the texts and the files that may still hold the address", async () => {
    await acme.apply({ external_id: "typed", type: "Call Ann@example.com" });
    const { mentions, files } = await erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep });
    expect(mentions).toHaveLength(3);
    expect(mentions).toContainEqual({ kind: "type", id: idOf("typed") });
    expect(mentions).toContainEqual({ kind: "content", id: idOf("kept") });
    expect(mentions).toContainEqual({ kind: "custom_attributes", id: idOf("of another") });
    expect(files).toMatchObject([{ file_name: "large.csv" }]);
  });

  it("names every record and file that still holds the address, in whatever table", async () => {
    const { organization, send } = acme;
    const address = "Eve@Gone.example";
    const holds = (text: string) =>
      text.toLowerCase().includes("eve@gone.example") || text.includes("eve%40gone.example");
    const workers = createWorkers(runtime);
    const { take } = createUploadHarness(runtime);
    const text = `external_id,agent_email,custom_attributes.${address}\n${address},${address},of ${address}\n`;
    const jobs = [
      await workers.upload(organization, { text }),
      await workers.upload(organization, { text, dryRun: true }),
    ];
    for (const job of jobs) await workers.handle(JSON.stringify(splitMessage(job)), clock() + 60_000);
    for (const chunk of await take("chunks")) await workers.handle(JSON.stringify(chunk), clock() + 60_000);
    for (const job of jobs) await overwrite(runtime, "WORK_ITEMS_TABLE", jobKey(job), "file_name", `${address}.csv`);
    await createRecordConversation(runtime)({
      organization: organization.id,
      external_id: address,
      source: "phone",
      status: "pending",
    });
    await acme.apply({ external_id: "deleted", agent_email: address, type: `for ${address}` });
    await send("deleteWorkItem", { params: { id: idOf("deleted") } });
    const webhook = { url: "https://localhost:4000/?for=eve%40gone.example", description: `for ${address}` };
    const { id } = (await send("createWebhook", { body: { webhook } })).body.data;
    await send("createWebhook", { body: { webhook: { url: `https://localhost:4000/${address}` } } });
    const { record: key } = await createKey(operatorOf(runtime), organization.id, { name: `of ${address}` });
    await createKey(operatorOf(runtime), other.organization.id, { name: `of ${address}` });

    const { mentions, files } = await erasePerson(runtime, organization.id, address, { sleep });
    for (const kind of ["url", "description"]) {
      expect(mentions).toContainEqual({ kind, id: `WEBHOOK#${organization.id} ${id}` });
    }
    expect(mentions).toContainEqual({ kind: "name", id: `ORGANIZATION#${organization.id} KEY#${key.key_id}` });
    for (const job of jobs) {
      for (const kind of ["file_name", "header"]) {
        const { pk, sk } = jobKey(job);
        expect(mentions).toContainEqual({ kind, id: `${pk} ${sk}` });
      }
    }
    const named = mentions.map(({ id: each }) => each);
    const records = (await allRecords(runtime)).filter((each) => holds(JSON.stringify(each)));
    const kept = records.filter(({ pk, key_id: keyId = "-" }) => {
      const isNamed = named.some((each) => each.startsWith(String(pk)) || each.endsWith(`KEY#${String(keyId)}`));
      return !isNamed && !named.includes(String(pk).split("#")[2]!);
    });
    expect(kept.map(({ organization: owner }) => owner)).toEqual([other.organization.id, other.organization.id]);
    expect(new Set(records.map(({ pk }) => String(pk).split("#")[0]))).toEqual(
      new Set(["ITEM", "UPLOAD", "CONVERSATION", "WEBHOOK", "KEY", "ORGANIZATION"]),
    );
    const { objects } = await everythingIn(runtime);
    const held = await Promise.all(objects.map((each) => workers.objects.readWhole(each)));
    const holding = objects.filter((_, index) => holds(held[index]!.toString()));
    expect(holding.length).toBeGreaterThan(2);
    const ofNamed = files.map((file) => `/${file.job}/`);
    expect(holding.filter((each) => !ofNamed.some((part) => each.includes(part)))).toEqual([]);
  });

  it("leaves other people and other organizations alone", async () => {
    await erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep });
    expect(await get("of another")).toMatchObject({ agent: { email: "bob@example.com" } });
    const list = await other.send("listWorkItems", { query: { agent_email: "ann@example.com" } });
    expect(list.body.data).toHaveLength(1);
  });

  it("takes the item out of the list of its agent", async () => {
    await acme.apply({ external_id: "kept", agent_external_id: "ann-1" });
    const byAgent = () => acme.send("listWorkItems", { query: { agent_external_id: "ann-1" } });
    expect((await byAgent()).body.data).toHaveLength(1);
    await erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep });
    expect((await byAgent()).body.data).toEqual([]);
  });

  it("changes nothing in a dry run", async () => {
    const erased = await erasePerson(runtime, acme.organization.id, "ann@example.com", { dryRun: true });
    expect(erased).toMatchObject({ work_items: 2, events: 1 });
    expect(await get("kept")).toMatchObject({ agent: { email: "ann@example.com" } });
  });

  it("keeps what others change in the item meanwhile, and finds the address that they bring back", async () => {
    let writes = 0;
    const remove = injectFaults(runtime.dynamodb, async (command): Promise<Fault> => {
      if (!/Update|ExecuteStatement/.test(command) || writes > 0) return "none";
      writes += 1;
      await acme.apply({ external_id: "kept", type: "changed", agent_email: "ann@example.com", agent_name: "Ann Two" });
      await acme.apply({ external_id: "new", agent_email: "ann@example.com" });
      return "none";
    });
    await erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep });
    remove();
    expect(await get("kept")).toMatchObject({ type: "changed", agent: NOBODY });
    expect(await get("new")).toMatchObject({ agent: NOBODY });
  });

  it("continues where DynamoDB failed between two of its writes", async () => {
    // More than one request can write.
    const more = Array.from({ length: 60 }, (_, index) => ({
      external_id: `${index}`,
      agent_email: "ann@example.com",
    }));
    await acme.send("applyWorkItemBatch", { body: { work_items: more } });
    const erase = (dryRun: boolean) => erasePerson(runtime, acme.organization.id, "ann@example.com", { dryRun, sleep });
    const left = async (): Promise<number> => {
      const { work_items: items, events } = await erase(true);
      return items + events;
    };
    const all = await left();
    for (let place = 1; (await left()) === all; place++) {
      let writes = 0;
      const remove = injectFaults(runtime.dynamodb, (command) => {
        if (!/^(Get|BatchGet|Query|Scan)/.test(command)) writes += 1;
        if (writes < place) return "none";
        // As long as a request waits for a response.
        clock.advance(5000);
        return "unreachable";
      });
      await erase(false).catch((error: unknown) => error);
      remove();
    }
    expect([all, (await left()) > 0]).toEqual([63, true]);
    await erase(false);
    expect(await left()).toBe(0);
    expect(await get("kept")).toMatchObject({ agent: NOBODY, agents: [], events: [{ actor: NOBODY }] });
  });

  it("gives up, and says why, while others keep bringing the address back", async () => {
    const remove = injectFaults(runtime.dynamodb, async (command, { IndexName }): Promise<Fault> => {
      if (command === "QueryCommand" && IndexName === "listing")
        await acme.apply({ external_id: "kept", agent_email: "ann@example.com" });
      return "none";
    });
    await expect(erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep })).rejects.toThrow(
      "ann@example.com is being added again: stop the system that sends it, then run the command again",
    );
    remove();
    await erasePerson(runtime, acme.organization.id, "ann@example.com", { sleep });
    expect(await get("kept")).toMatchObject({ agent: NOBODY });
  });

  it("looks again once the index shows what calls under way have written", async () => {
    let isLate = false;
    const waited = async (milliseconds: number): Promise<void> => {
      clock.advance(milliseconds);
      // Such an item is shown as late as this.
      if (!isLate && milliseconds > 10 * 60_000) {
        isLate = true;
        await acme.apply({ external_id: "late", agent_email: "late@example.com" });
      }
    };
    await erasePerson(runtime, acme.organization.id, "late@example.com", { sleep: waited, withoutScan: true });
    expect(isLate).toBe(true);
    expect(await get("late")).toMatchObject({ agent: NOBODY });
  });

  it("waits for uploads whose files came before it and for their workers, and deletes plans of dry runs", async () => {
    const { organization } = acme;
    const workers = createWorkers(runtime);
    const upload = (dryRun: boolean) => {
      const text = `external_id,agent_email\n${dryRun ? "tried" : "from a file"},ann@example.com\n`;
      return workers.upload(organization, { text, dryRun });
    };
    const plannedFor = async (): Promise<string[]> =>
      (await allRecords(runtime)).flatMap(({ pk }) => {
        const [kind, , job] = String(pk).split("#");
        return kind === "DRY_RUN" && job !== undefined ? [job] : [];
      });
    const { take } = createUploadHarness(runtime);
    const applyAll = async (jobs: readonly JobKey[]): Promise<void> => {
      for (const job of jobs) await workers.handle(JSON.stringify(splitMessage(job)), clock() + 60_000);
      for (let chunks = await take("chunks"); chunks.length > 0; chunks = await take("chunks")) {
        for (const chunk of chunks) await workers.handle(JSON.stringify(chunk), clock() + 60_000);
      }
    };
    const before = [await upload(false), await upload(true)];
    clock.advance(1000);
    const began = clock();
    const later: JobKey[] = [];
    let planned: readonly string[] = [];
    const waits: (readonly string[])[] = [];
    const erased = await erasePerson(runtime, organization.id, "ann@example.com", {
      onWait: (waiting) => waits.push("jobs" in waiting ? waiting.jobs : []),
      sleep: async (milliseconds) => {
        clock.advance(milliseconds);
        if (waits.length === 2) later.push(await upload(true));
        if (waits.length !== 3) return;
        await applyAll([...before, ...later]);
        planned = await plannedFor();
      },
    });
    const ids = before.map(({ id }) => id).toSorted();
    expect(waits.map((jobs) => jobs.toSorted())).toEqual([[], ids, ids, []]);
    expect(erased.work_items).toBe(3);
    expect(await get("from a file")).toMatchObject({ agent: NOBODY });
    // Lambda ends a worker of such a job 16 minutes after its last change at the latest.
    const ended = await Promise.all(before.map((job) => workers.store.readJob(job)));
    expect(ended.map((job) => job?.status)).toEqual(["completed", "completed"]);
    // The index then shows what it wrote within 15 minutes.
    expect(clock()).toBe(Math.max(...ended.map((job) => Date.parse(job!.updated_at))) + (16 + 15) * 60_000);
    expect(clock()).toBeGreaterThan(began + 16 * 60_000);

    expect(planned.toSorted()).toEqual([before[1]!.id, later[0]!.id].toSorted());
    expect(await plannedFor()).toEqual([later[0]!.id]);
  });

  it("names a trial whose results show the address as an earlier value, and whose plans don't hold it", async () => {
    const { organization } = acme;
    const workers = createWorkers(runtime);
    const { take } = createUploadHarness(runtime);
    const text = "external_id,agent_email,custom_attributes.by\nkept,bob@example.com,\nof another,,me\n";
    const job = await workers.upload(organization, { text, dryRun: true });
    clock.advance(1000);
    let waits = 0;
    const { files } = await erasePerson(runtime, organization.id, "ann@example.com", {
      onWait: () => (waits += 1),
      sleep: async (milliseconds) => {
        clock.advance(milliseconds);
        if (waits !== 3) return;
        await workers.handle(JSON.stringify(splitMessage(job)), clock() + 60_000);
        for (const chunk of await take("chunks")) await workers.handle(JSON.stringify(chunk), clock() + 60_000);
      },
    });
    const ended = (await workers.store.readJob(job))!;
    const key = objectKeys.list(ended, "results", ended.merged!);
    expect(key).toMatch(/^uploads\/\.trials\//);
    const results = (await workers.objects.readWhole(key)).toString();
    expect(results).toContain('{""agent_email"":{""from"":""ann@example.com"",""to"":""bob@example.com""}}');
    expect(results).toContain('{""custom_attributes.by"":{""from"":""ann@example.com"",""to"":""me""}}');
    // S3 deletes it a day later, at midnight (UTC).
    const { kept_until: keptUntil } = files.find((file) => file.job === job.id)!;
    expect(Date.parse(keptUntil)).toBeGreaterThanOrEqual(Date.parse(ended.updated_at) + 2 * DAY_MS);
    const plans = (await allRecords(runtime)).filter(({ pk }) => String(pk).startsWith("DRY_RUN#"));
    expect(plans.map((plan) => plan["applied_rows"])).toEqual(
      expect.arrayContaining([`${job.id}:2uA`, `${job.id}:3uG`]),
    );
    expect(JSON.stringify(plans)).not.toMatch(/ann@example/i);
  });

  it("waits also for uploads that the index of open jobs doesn't show yet", async () => {
    const { organization } = acme;
    const workers = createWorkers(runtime);
    const { take } = createUploadHarness(runtime);
    const thaw = freezeIndex(runtime.dynamodb, "open_jobs");
    await workers.store.openJobsOf(organization.id);
    const job = await workers.upload(organization, {
      text: "external_id,agent_email\nfrom a file,ann@example.com\n",
      dryRun: false,
    });
    expect((await workers.store.openJobsOf(organization.id)).map(({ id }) => id)).not.toContain(job.id);
    clock.advance(1000);
    const waits: (readonly string[])[] = [];
    const erased = await erasePerson(runtime, organization.id, "ann@example.com", {
      onWait: (waiting) => waits.push("jobs" in waiting ? waiting.jobs : []),
      sleep: async (milliseconds) => {
        clock.advance(milliseconds);
        if (waits.length !== 3) return;
        await workers.handle(JSON.stringify(splitMessage(job)), clock() + 60_000);
        for (const chunk of await take("chunks")) await workers.handle(JSON.stringify(chunk), clock() + 60_000);
      },
    });
    thaw();
    expect(waits.slice(0, 3)).toEqual([[], [job.id], [job.id]]);
    expect(erased.work_items).toBe(3);
    expect(await workers.store.readJob(job)).toMatchObject({ status: "completed" });
    expect(await get("from a file")).toMatchObject({ agent: NOBODY });
  });

  it("deletes the files of uploads that have ended, if it is to, and these can't be undone any more", async () => {
    const { organization, send } = acme;
    const uploads = createUploadHarness(runtime);
    const job = await uploads.upload(organization, "external_id,agent_email\nfrom a file,ann@example.com\n");
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(60_000));
    await uploads.drain();
    const filesOfJob = async () => (await everythingIn(runtime)).objects.filter((key) => key.includes(job.id));
    expect(await filesOfJob()).not.toEqual([]);
    const until: number[] = [];
    const options = {
      sleep,
      withFiles: true,
      onWait: (waiting: object) => void ("until" in waiting && until.push(Number(waiting.until))),
    };
    const began = clock();
    const would = await erasePerson(runtime, organization.id, "ann@example.com", { ...options, dryRun: true });
    expect(await filesOfJob()).not.toEqual([]);
    const erased = await erasePerson(runtime, organization.id, "ann@example.com", options);
    expect(await filesOfJob()).toEqual([]);
    for (const { deleted_files: deleted, files } of [would, erased]) {
      expect(deleted).toEqual([job.id]);
      expect(files).toMatchObject([{ file_name: "large.csv" }]);
    }
    expect(until).toEqual([began + 30_000, expect.any(Number)]);
    expect(until[1]).toBeGreaterThanOrEqual(began + 15 * 60_000);
    const { id } = (await send("undoWorkItemUpload", { params: { id: job.id } })).body.data;
    await uploads.drain();
    expect((await send("getWorkItemUpload", { params: { id } })).body.data).toMatchObject({ status: "failed" });
  });

  it("says until when an undo that begins at the last moment can keep the address", async () => {
    const { organization, send } = acme;
    const uploads = createUploadHarness(runtime);
    const job = await uploads.upload(organization, "external_id,agent_email\nfrom a file,ann@example.com\n");
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(60_000));
    await uploads.drain();
    const keptUntil = async (): Promise<number> => {
      const { files } = await erasePerson(runtime, organization.id, "ann@example.com", { sleep, dryRun: true });
      return Date.parse(files.find((file) => file.job === job.id)!.kept_until);
    };
    const first = await keptUntil();
    clock.advance(28 * DAY_MS - 60_000);
    expect(await keptUntil()).toBe(first);
    const undo = await send("undoWorkItemUpload", { params: { id: job.id } });
    expect(undo.status).toBe(202);
    // Its lists are kept as long as the file was.
    expect(first).toBeGreaterThanOrEqual(clock() + 35 * DAY_MS);
    clock.advance(60 * 60_000);
    const before = clock() - 28 * DAY_MS;
    expect(await keptUntil()).toBeLessThan(before + 37 * DAY_MS);
    expect(await keptUntil()).toBeGreaterThanOrEqual(before + 35 * DAY_MS - 60 * 60_000);
  });

  it("leaves what an import can undo for a person whose address has this one's letters", async () => {
    const { organization } = acme;
    await acme.apply({ external_id: "kept", agent_email: "joann@example.com" });
    const uploads = createUploadHarness(runtime);
    const job = await uploads.upload(organization, "external_id,agent_email\nkept,new@example.com\n");
    await uploads.split(sqsEvent(splitMessage(job)), lambdaContext(60_000));
    await uploads.drain();
    const erased = await erasePerson(runtime, organization.id, "ann@example.co", { sleep });
    expect(erased).toMatchObject({ work_items: 0, events: 0, mentions: [] });
    const layers = (await allRecords(runtime)).filter(({ undo }) => String(undo).includes("joann@example.com"));
    expect(layers).toHaveLength(1);
    expect(await erasePerson(runtime, organization.id, "JoAnn@example.com", { sleep })).toMatchObject({
      work_items: 1,
    });
  });
});
