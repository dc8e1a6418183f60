/** A changed rule: what goes wrong, its text, and what stands there instead. */
type Rule = readonly [defect: string, text: string, instead: string];

const FOLLOWS = 'return status === "cancelled" ? status : "completed";';
const REOPENS = 'return status === "completed" ? "in_progress" : status;';
const MERGED = "JSON.stringify({ ...attributes, ...Object.fromEntries(changed) })";
const SOURCES = "for (const source of fieldSource.sources) {";

/** The rules by which inputs and cells change items, by their files and names. */
export const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  "lib/work-items/plan-apply.ts": {
    "status follows": ["completed_at leaves the status as it is", FOLLOWS, "return status;"],
    "status cancelled": ["completed_at completes cancelled items", FOLLOWS, 'return "completed";'],
    "status again": [
      "another completed_at completes an item that was reopened",
      "if (before === null && after !== null)",
      "if (after !== null)",
    ],
    "status cleared": ["an item without completed_at stays completed", REOPENS, "return status;"],
    "status kept": ["a cleared completed_at sets any status back", REOPENS, 'return "in_progress";'],
    "status given": [
      "completed_at overrules a status that is sent with it",
      "input.status ?? followCompletion(stored, merged.completed_at)",
      "followCompletion({ ...stored, status: input.status ?? stored.status }, merged.completed_at)",
    ],
    "remove last": [
      "attributes are removed before others are merged",
      "withoutKeys(attributes, removed)",
      "withoutKeys(attributes, removed.filter((key) => input.custom_attributes?.[key] === undefined))",
    ],
    restore: ["a deleted item that is sent again stays deleted", "status, deleted_at: null };", "status };"],
    restored: [
      "an item that is restored counts as updated",
      'stored.deleted_at === null ? "updated" : "restored"',
      '"updated"',
    ],
    "unchanged item": [
      "an item that stays the same is written",
      "if (!differs(stored, merged)) return",
      "if (false) return",
    ],
    "updated at": ["updated_at stays when an item changes", "{ ...merged, updated_at: now }", "merged"],
    "event restore": ["a deleted event that is sent again stays deleted", "{ ...base, deleted_at: null }", "base"],
    "event merge": ["an event's omitted fields are cleared", "const base = stored ?? {", "const base = {"],
    "event again": [
      "of two inputs for an event in one item, the first counts",
      "inputs.reduce<WorkItemEvent>(",
      "inputs.slice(0, 1).reduce<WorkItemEvent>(",
    ],
  },
  "lib/work-items/field-definition.ts": {
    "null clears": [
      "null leaves a field as it is",
      "if (value !== undefined) merged[name]",
      "if (value !== undefined && value !== null) merged[name]",
    ],
    "agent together": [
      "an agent's email clears the agent's other fields",
      "if (value !== undefined) merged[name] = merge === undefined ? value :",
      'if (value !== undefined || (name.startsWith("agent_") && values["agent_email"])) merged[name] = merge === undefined ? (value ?? null) :',
    ],
  },
  "lib/work-items/field-kinds.ts": {
    "null attribute": ["null as a new attribute isn't kept", "!Object.hasOwn(attributes, key) || ", ""],
    "attributes merge": ["attributes replace all others", MERGED, "JSON.stringify(Object.fromEntries(changed))"],
    "attributes nested": [
      "nested attributes are merged",
      MERGED,
      'JSON.stringify({ ...attributes, ...Object.fromEntries(changed.map(([key, value]) => [key, typeof value === "object" && value !== null && !Array.isArray(value) ? { ...attributes[key], ...value } : value])) })',
    ],
  },
  "lib/work-items/write-targets.ts": {
    "file cancelled": [
      "files, and only they, complete cancelled items",
      "return planApply(current, input.external_id, input, now);",
      'return planApply(current, input.external_id, known && current?.status === "cancelled" && input.completed_at ? { status: "completed", ...input } : input, now);',
    ],
    "row by row": [
      "a dry run shows what a row changes together with the row before it",
      "isChange && current ? records.changes(current, plan.next)",
      "isChange && current ? records.changes(effects.at(-2)?.plan.next ?? current, plan.next)",
    ],
    "later row": [
      "of several inputs for an item, the earlier ones win",
      "let current = before;\n  for (const pending of inputs) {",
      "let current = before;\n  for (const pending of inputs.toReversed()) {",
    ],
  },
  "lib/work-items/changed-fields.ts": {
    "new attribute": [
      "a dry run doesn't show that an attribute without value is new",
      "old === undefined || current === undefined || !jsonEquals(old, current)",
      "!jsonEquals(old ?? null, current ?? null)",
    ],
  },
  "lib/uploads/job/counters.ts": {
    "changed fields": [
      "a dry run counts changed fields in one of its windows",
      "fields[field] = (fields[field] ?? 0) + rows;",
      "fields[field] = rows;",
    ],
  },
  "lib/work-items/pending-input.ts": {
    "only event": [
      "an input that only changes an event counts as unchanged",
      'if (this.#outcome === "unchanged") this.#outcome = "updated";',
      "",
    ],
  },
  "lib/instant.ts": {
    "cut off": [
      "times are rounded to milliseconds",
      'const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));',
      'const ms = Math.round(Number(`0.${fraction || "0"}`) * 1000);',
    ],
  },
  "lib/uploads/csv/row-reader.ts": {
    "blank cell": [
      "an empty cell clears completed_at",
      "if (fieldSource.clears === true) clearTarget(input, fieldSource.target);",
      'if (fieldSource.clears === true || fieldSource.target.name === "completed_at") clearTarget(input, fieldSource.target);',
    ],
    "blank attribute": [
      "an empty value sets a custom attribute to null",
      'if (target.kind === "attribute") input.removed.push(target.name);',
      'if (target.kind === "attribute") setTarget(input, target, null);',
    ],
    "single attribute": [
      "custom_attributes override the single ones of a row",
      "{ ...json, ...Object.fromEntries(attributes) }",
      "{ ...Object.fromEntries(attributes), ...json }",
    ],
    "first of": ["the last of several sources counts", SOURCES, SOURCES.replace("sources", "sources.toReversed()")],
    "next of": ["an empty source has no other after it", SOURCES, SOURCES.replace("sources", "sources.slice(0, 1)")],
    "empty row": [
      "rows without a value count",
      "return values.every((_, index) => this.#options.isEmptyAt(cells, index));",
      "return false;",
    ],
  },
  "lib/uploads/csv/cells.ts": {
    "empty words": ["words that count as empty are values", 'return listed.has(word) ? "" : word;', "return word;"],
  },
  "lib/uploads/csv/header-names.ts": {
    "numbered name": ["the second of two headers is named (3)", "(${count})`", "(${count + 1})`"],
  },
  "lib/uploads/mapping/conversion.ts": {
    "alias case": ["translations heed case and spaces", "[comparable(text), alias]", "[text, alias]"],
  },
  "lib/uploads/mapping/mapped-columns.ts": {
    otherwise: [
      "an empty cell is what all other texts mean",
      'return word === "" ? "" :',
      'return word === "" ? (aliases.find(word) ?? "") :',
    ],
    "joined empty": [
      "empty cells are joined",
      'const filled = indexes.filter((index) => compare(cells, index) !== "");',
      "const filled = indexes;",
    ],
    "empty prefix": ["an empty text has a prefix", 'return text === "" ? "" : prefix + text;', "return prefix + text;"],
    "blank source": [
      "what a source says of empty values is overruled by its mapping",
      "clears: clears(target, given.source.blank),",
      "clears: clears(target),",
    ],
    "blank column": [
      "empty values of columns that no source names clear nothing",
      'clears: name !== "" && clears(target),',
      "clears: false,",
    ],
    "other columns": [
      "columns that no source names are left out",
      'mapping.others === "ignore" ? []',
      'mapping.others !== "refuse" ? []',
    ],
  },
  "lib/uploads/mapping/date-time.ts": {
    "time zone": ["a local time counts as UTC", "time: toInstant(written.time, timeZone!)", "time: written.time"],
    unix: ["milliseconds count as seconds", 'format === "unix" ? 1000 : 1', "1000"],
  },
  "lib/uploads/mapping/time-zone.ts": {
    "clock change": [
      "a local time that a clock change repeats is the later one",
      "toZonedDateTime(dateTime, timeZone)",
      'toZonedDateTime(dateTime, timeZone, { disambiguation: "later" })',
    ],
  },
  "lib/cell-value.ts": {
    boolean: ["yes isn't true", '["yes", true]', '["yes", false]'],
    "json cell": ["JSON in a cell stays a text", 'return kind === "json" ? readJson(text) : text;', "return text;"],
  },
};
