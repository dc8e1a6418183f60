import type { Json } from "../oracle/reference-item.ts";

/** What cells mean that make their row fail. */
export const FAILS = Symbol("fails");
/**
 * Cells, with ¦ between those of several columns, and what they mean as docs/reference says: the value that one would send as
 * JSON. Undefined leaves the field out. § stands for the number of the row.
 */
export type Way = readonly [cells: string, meaning: Json | undefined | typeof FAILS];

/** A source of a mapping, whose columns are $1 and $2, and ways to fill them. */
interface SourceWays {
  readonly source: object;
  readonly ways: readonly Way[];
}

/** Texts of a mapped file that count as empty. */
export const EMPTY = ["?", "NULL"];
const LEFT_OUT: readonly Way[] = ["", "?", " null "].map((text): Way => [text, undefined]);
const itself = (...texts: readonly string[]): Way[] => texts.map((text): Way => [text, text]);
const fails = (...texts: readonly string[]): Way[] => texts.map((text): Way => [text, FAILS]);

/** Columns of a file without mapping, by their names. */
export const PLAIN: Readonly<Record<string, readonly Way[]>> = {
  agent_email: [["", undefined], ...itself("ann@example.com", "bob@example.com"), ...fails("no email address")],
  agent_name: [["", undefined], ...itself("Ann", ' "A", 日本 ')],
  agent_external_id: [["", undefined], ...itself("7", "?")],
  type: [["", undefined], ...itself('kind "1"', "=kind,2")],
  status: [["", undefined], ...itself("pending", "in_progress", "completed", "cancelled"), ...fails("Pending", "done")],
  completed_at: [
    ["", undefined],
    ["2026-01-01T11:00:00+01:00", "2026-01-01T10:00:00.000Z"],
    ["2026-02-01t00:00:00.1239z", "2026-02-01T00:00:00.123Z"],
    ...fails("2026-02-01T00:00:00", "soon"),
  ],
  custom_attributes: [
    ["", undefined],
    ["{}", {}],
    ['{"k": "of json", "b": null}', { k: "of json", b: null }],
    ['{"deep": {"a": [1]}}', { deep: { a: [1] } }],
    ['{"deep": {"b": true}}', { deep: { b: true } }],
    ...fails("[1]", "{"),
  ],
  "custom_attributes.k": [["", undefined], ...itself("text", " 1 ")],
};

const EMAILS: readonly SourceWays[] = [
  { source: { column: "$1" }, ways: PLAIN["agent_email"]!.concat(LEFT_OUT) },
  {
    source: { column: "$1", values: { Ann: "ann@example.com", nobody: "" } },
    ways: [
      ...LEFT_OUT,
      ["nobody", undefined],
      [" ANN ", "ann@example.com"],
      ...itself("bob@example.com"),
      ...fails("Bob"),
    ],
  },
];
const PEOPLE: readonly SourceWays[] = [
  {
    source: { columns: ["$1", "$2"] },
    ways: [
      ["? ¦", undefined],
      ["Ann¦Lee", "Ann Lee"],
      ["null¦Lee", "Lee"],
    ],
  },
  {
    source: { columns: ["$2", "$1"], join: ", ", prefix: "Dr. " },
    ways: [
      ["¦", undefined],
      ["Ann¦Lee", "Dr. Lee, Ann"],
      ["Ann¦?", "Dr. Ann"],
    ],
  },
  {
    source: { column: "$1", values: { me: "Ann", nobody: "" }, otherwise: "someone" },
    ways: [...LEFT_OUT, ["nobody", undefined], ["Me", "Ann"], ["you", "someone"]],
  },
  { source: { value: "import" }, ways: [["", "import"]] },
];
const IDS: readonly SourceWays[] = [
  { source: { column: "$1", prefix: "a-" }, ways: [...LEFT_OUT, ["7", "a-7"], [" 7", "a- 7"]] },
  {
    source: {
      first_of: [
        { column: "$1", values: { 0: "" } },
        { column: "$2", prefix: "old-" },
      ],
    },
    ways: [
      ["?¦", undefined],
      ["0¦ ", undefined],
      ["7¦8", "7"],
      ["¦8", "old-8"],
      ["0¦9", "old-9"],
    ],
  },
];
const STATES = { Open: "pending", Busy: "in_progress", "Closed ": "completed", Void: "cancelled", Junk: "" };
const STATE_WAYS: readonly Way[] = [
  ...LEFT_OUT,
  ["junk", undefined],
  ["OPEN", "pending"],
  ["Busy", "in_progress"],
  [" closed", "completed"],
  ["void", "cancelled"],
];
const STATUSES: readonly SourceWays[] = [
  { source: { column: "$1", values: STATES }, ways: [...STATE_WAYS, ...itself("cancelled"), ...fails("other")] },
  { source: { column: "$1", values: STATES, otherwise: "in_progress" }, ways: [...STATE_WAYS, ["x", "in_progress"]] },
];
const TIMES: readonly SourceWays[] = [
  {
    source: {
      first_of: [
        { column: "$1", format: "dd.MM.yyyy HH:mm", time_zone: "Europe/Berlin" },
        { column: "$2", format: "unix" },
      ],
    },
    ways: [
      ["¦", undefined],
      ["NULL¦?", undefined],
      ["31.01.2026 14:05¦1", "2026-01-31T13:05:00.000Z"],
      ["31.07.2026 14:05¦", "2026-07-31T12:05:00.000Z"],
      // Clocks skip the first and repeat the second.
      ["29.03.2026 02:30¦", "2026-03-29T01:30:00.000Z"],
      ["25.10.2026 02:30¦", "2026-10-25T00:30:00.000Z"],
      ["¦86400.5", "1970-01-02T00:00:00.500Z"],
      ...fails("31.02.2026 10:00¦1", "¦soon"),
    ],
  },
  {
    source: { column: "$1", time_zone: "America/New_York" },
    ways: [
      ...LEFT_OUT,
      ["2026-01-31", "2026-01-31T05:00:00.000Z"],
      ["2026-07-31 09:30", "2026-07-31T13:30:00.000Z"],
      ["2026-07-31 09:30:00 UTC", "2026-07-31T09:30:00.000Z"],
      ["2026-01-31T09:30:00.9999+01:00", "2026-01-31T08:30:00.999Z"],
      ...fails("2026-13-01"),
    ],
  },
  { source: { column: "$1", format: "unix_ms" }, ways: [...LEFT_OUT, ["1500", "1970-01-01T00:00:01.500Z"]] },
  {
    source: { column: "$1", format: "d/M/yy h:mm a", time_zone: "UTC" },
    ways: [
      ...LEFT_OUT,
      ["31/1/26 2:05 PM", "2026-01-31T14:05:00.000Z"],
      ["1/2/51 12:00 AM", "1951-02-01T00:00:00.000Z"],
      ...fails("31/1/26 14:05"),
    ],
  },
  {
    source: { column: "$1", format: "yyyy-MM-dd'T'HH:mm:ssXXX" },
    ways: [...LEFT_OUT, ["2026-01-31T09:30:00-02:00", "2026-01-31T11:30:00.000Z"], ...fails("2026-01-31T09:30:00")],
  },
];

/** Targets of `fields` in a mapping, but for `external_id`. */
export const MAPPED: Readonly<Record<string, readonly SourceWays[]>> = {
  agent_email: EMAILS,
  agent_name: PEOPLE,
  agent_external_id: IDS,
  type: [
    { source: { column: "$1" }, ways: [...LEFT_OUT, ...itself('kind "1"', "two\nlines; a|b\t,", " kind ")] },
    { source: { value: "Case", values: { case: "kind 3" } }, ways: [["", "kind 3"]] },
  ],
  status: STATUSES,
  completed_at: TIMES,
  custom_attributes: [{ source: { column: "$1" }, ways: PLAIN["custom_attributes"]!.concat(LEFT_OUT) }],
  "custom_attributes.k": [
    { source: { column: "$1", values: { none: "" } }, ways: [...LEFT_OUT, ["None", undefined], ...itself("text")] },
  ],
  "custom_attributes.amount": [
    {
      source: { column: "$1", as: "number" },
      ways: [...LEFT_OUT, ["12.5", 12.5], ["-007", -7], ["+4", 4], ...fails("1.000.000", "many")],
    },
  ],
  "custom_attributes.b": [
    {
      source: { column: "$1", as: "boolean" },
      ways: [...LEFT_OUT, ["Yes", true], ["1", true], ["false", false], ["NO", false], ...fails("maybe")],
    },
  ],
  "custom_attributes.j": [
    {
      source: { column: "$1", as: "json" },
      ways: [...LEFT_OUT, ["[1, {}]", [1, {}]], ['"text"', "text"], ...fails("{")],
    },
  ],
};
/** Targets of `event` in a mapping. */
export const MAPPED_EVENT: Readonly<Record<string, readonly SourceWays[]>> = {
  external_id: [{ source: { column: "$1", prefix: "e" }, ways: [["0", "e0"], ["1", "e1"], ["2", "e2"], ...fails("")] }],
  actor_email: EMAILS,
  actor_name: PEOPLE,
  actor_external_id: IDS,
  content: [{ source: { column: "$1" }, ways: [...LEFT_OUT, ["line 1\nline §", "line 1\nline §"]] }],
  occurred_at: TIMES,
};
