import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createUploadService } from "../support/uploads/upload-service.ts";

const guide = readFileSync(new URL("../../docs/from-an-export.md", import.meta.url), "utf8");
const BLOCKS = /^## (.*)\n[^#]*?```csv\n([^]*?)```[^#]*?```json mapping\n([^]*?)```[^#]*?```json item\n([^]*?)```/gm;
const shapes = [...guide.matchAll(BLOCKS)].map(([, title = "", csv = "", mapping = "", item = ""]) => ({
  title,
  csv,
  mapping: JSON.parse(mapping) as object,
  item: JSON.parse(item) as { external_id: string },
}));

describe("the guide from an export to work items", () => {
  it("has three shapes of files", () => {
    expect(shapes).toHaveLength(3);
  });

  it.each(shapes)("$title: the mapping makes what the guide says", async ({ csv, mapping, item }) => {
    const uploads = await createUploadService();
    const tried = await uploads.runMapped(csv, mapping, { dry_run: "true" });
    expect(tried).toMatchObject({ status: "completed", failed_rows: 0, dry_run: true });
    const job = await uploads.runMapped(csv, { from: tried.id });
    expect(job).toMatchObject({ status: "completed", failed_rows: 0, created_rows: tried["created_rows"] });
    expect(await uploads.getItem(item.external_id)).toMatchObject(item);
  });
});

describe("GET /v1/work_items/upload/template.csv", () => {
  it("is a file that can be uploaded as it is", async () => {
    const uploads = await createUploadService();
    const { status, headers, text } = await uploads.call("getWorkItemUploadTemplate");
    expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "text/csv; charset=utf-8" });
    expect(await uploads.run(text)).toMatchObject({ status: "completed", total_rows: 2, succeeded_rows: 2 });
    expect(await uploads.getItem("example-1")).toMatchObject({
      agent: { name: "Ada" },
      custom_attributes: { priority: "high", minutes: 12 },
    });
  });
});
