import { afterAll, describe, expect, it } from "vitest";
import { runScript } from "../../support/run-script.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** No service runs on it: each invocation opens the stores itself. */
const directory = temporaryDirectory(afterAll);

/** Runs `npm run invoke -- <words>`. @returns its exit status and output */
const invoke = (words: string, variables: Readonly<Record<string, string>> = {}) =>
  runScript("apps/local/invoke.ts", words.split(" ").filter(Boolean), {
    env: { DATA_DIR: directory, ...variables },
  });

describe("npm run invoke", () => {
  it("runs a function on the data of the local service, with its key, and prints the result", async () => {
    const created = await invoke("create-work-item events/create-work-item.json");
    expect(JSON.parse(created.out)).toMatchObject({ statusCode: 201 });
    const got = await invoke("get-work-item events/get-work-item.json");
    const { statusCode, body } = JSON.parse(got.out) as { statusCode: number; body: string };
    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ data: { external_id: "case-1" } });
    expect(got.status).toBe(0);
  });

  it("sends the key of the environment where it has one", async () => {
    const { out } = await invoke("get-work-item events/get-work-item.json", { API_KEY: "another" });
    expect(JSON.parse(out)).toMatchObject({ statusCode: 401 });
  });

  it("prints the error of an invocation that fails, and ends with status 1", async () => {
    const { status, out } = await invoke("record-qa-score events/record-qa-score.error.json");
    expect(JSON.parse(out)).toMatchObject({ errorMessage: expect.stringMatching(/^qa_score: /) });
    expect(status).toBe(1);
  });

  it.each([
    ["", "missing required argument 'function'"],
    ["get-work-item", "missing required argument 'event.json'"],
    ["get-work-itm events/get-work-item.json", /^unknown function get-work-itm; name one of .*get-work-item,/],
    ["get-work-item events/nothing.json", /^events\/nothing\.json cannot be read \(.*\): name an event file/],
    ["get-work-item README.md", /^README\.md isn't valid JSON \(.*\): name an event file/],
  ])("says in one line what to do instead of: %s", async (words, expected) => {
    const { status, out, error } = await invoke(words);
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(error).toMatch(expected);
    expect(error.split("\n")).toHaveLength(1);
  });
});
