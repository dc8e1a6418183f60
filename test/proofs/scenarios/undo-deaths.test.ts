import { expect, it } from "vitest";
import { createDyingUploads, RESULTS } from "../../support/uploads/dying-workers.ts";

it("an undo whose worker dies at any of its requests does what it would have done", async () => {
  const uploads = await createDyingUploads();
  let request = 1;
  for (let hasDied = true; hasDied; request++) {
    const prefix = `${request}-`;
    const id = await uploads.prepare(prefix);
    const undo = await uploads.askForUndo(id);
    hasDied = await uploads.deliver(request);
    const job = await uploads.end(undo);
    expect({ request, ...job }).toMatchObject({
      request,
      status: "completed",
      total_rows: 4,
      deleted_rows: 1,
      undone_rows: 1,
      partly_undone_rows: 1,
      kept_rows: 1,
    });
    const expected = Object.entries(RESULTS).map(([name, text], index) =>
      [index + 2, prefix + name, uploads.idOf(prefix + name), text].join(","),
    );
    expect({ request, lines: await uploads.resultLines(undo) }).toEqual({ request, lines: expected });
    expect(await uploads.find(`${prefix}a`)).toMatchObject({ type: "call", agent: { name: "Cid" } });
    expect(await uploads.find(`${prefix}b`)).toMatchObject({ type: "call", agent: { name: null } });
    expect(await uploads.find(`${prefix}made`)).toBeUndefined();
    expect(await uploads.find(`${prefix}used`)).toMatchObject({ type: "chat", events: [{ content: "mine" }] });
  }
  expect(request).toBeGreaterThan(12);
});
