import * as z from "zod";
import { findForbidden, issueOf, rule } from "../../schema.ts";
import { DELIMITERS, type Delimiter } from "../csv/delimiter.ts";
import { type Problem, under } from "../../errors.ts";
import { VALUE_KINDS } from "../../cell-value.ts";

/** Limit of a mapping as JSON. It is stored in the job's record, which every request for the job reads. */
const MAPPING_MAX_BYTES = 64 * 1024;
/** More than a wide export's columns need. Each row is read by all of them. */
const SOURCES_MAX = 1000;
/** Titles above a header take a few rows. Rows further down are data. */
export const HEADER_ROW_MAX = 100;
/** Limit of a date format, far above what dates need. Each row's date is compared with all of it. */
export const PATTERN_MAX_CHARACTERS = 100;
/** What a value that is empty, or becomes empty, does to the field: it stays, or is cleared. */
const blankSchema = z.enum(["keep", "clear"]).optional();
const HEADER_ROW_RANGE = `must be a whole number from 1 to ${HEADER_ROW_MAX}`;
/** Levels of arrays and objects: far more than a mapping needs, far fewer than exhaust the stack. */
const LEVELS_MAX = 32;

// Where a value comes from. Exactly one of `column`, `columns`, `value` and `first_of` is given.
// No `default` in the document: generated clients send defaults, and these keys don't fit every source.
const sourceSchema = z
  .strictObject({
    column: z.string().optional().meta({ description: "Header of a column." }),
    columns: z.array(z.string()).min(1, "must name at least 1 column").optional().meta({
      description: "Headers of columns whose values are joined. Empty values are left out.",
    }),
    join: z.string().optional().meta({ description: "Separator for joined values. Default: a space." }),
    digest: z.boolean().optional().meta({
      description: "Derives 32 characters from the names and values of `columns` instead of joining them.",
    }),
    value: z.string().min(1, "must not be empty").optional().meta({ description: "The same text for every row." }),
    get first_of() {
      return z
        .array(sourceSchema)
        .min(1, "must have at least 1 source")
        .optional()
        .describe("Uses the first of these sources that isn't empty.");
    },
    values: z.record(z.string(), z.string()).optional().meta({
      description: "Translations of texts in the file. Other texts stay as they are.",
    }),
    otherwise: z.string().optional().meta({ description: "Translation of all other texts." }),
    format: z
      .string()
      .optional()
      .meta({
        description:
          "Date format: `iso` (default), `unix`, `unix_ms`, or Unicode date fields such as `dd-MM-yyyy HH:mm`, at most " +
          `${PATTERN_MAX_CHARACTERS} characters.`,
      }),
    time_zone: z.string().optional().meta({ description: "IANA time zone for dates without an offset." }),
    prefix: z.string().optional().meta({ description: "Put before each text that isn't empty." }),
    trim: z.boolean().optional().meta({ description: "Removes spaces around each text." }),
    blank: blankSchema.meta({
      description:
        "What an empty value does: `keep` leaves the field as it is, `clear` clears it. Default: as in the mapping.",
    }),
    as: z.enum(VALUE_KINDS).optional().meta({ description: "Type of a custom attribute. Default: `text`." }),
  })
  .meta({
    id: "WorkItemUploadMappingSource",
    description: "Where a value comes from. Send exactly one of `column`, `columns`, `value` and `first_of`.",
  });

/** Where a value comes from. */
export type Source = z.output<typeof sourceSchema>;

const sourceOfEach = z.record(z.string(), sourceSchema);
const shape = z
  .strictObject({
    fields: sourceOfEach
      .meta({
        id: "WorkItemUploadMappingFields",
        description: "Sources of the work item's fields. `external_id` is required.",
      })
      .optional()
      .describe("Sources of the work item's fields."),
    event: sourceOfEach
      .meta({
        id: "WorkItemUploadMappingEvent",
        description: "Sources of one event per row. `external_id` is required.",
      })
      .optional()
      .describe("Sources of one event per row."),
    others: z.enum(["custom_attributes", "ignore", "refuse"]).optional().meta({
      description: "What to do with columns that no source names.",
      default: "refuse",
    }),
    empty: z.array(z.string()).optional().meta({ description: "Values that count as empty." }),
    blank: blankSchema.meta({
      description:
        "What empty values do: `keep` leaves fields as they are, `clear` clears those that can be cleared: all but " +
        "`external_id`, `type`, `status` and `custom_attributes` as a whole.",
      default: "keep",
    }),
    header_row: z
      .int(HEADER_ROW_RANGE)
      .min(1, HEADER_ROW_RANGE)
      .max(HEADER_ROW_MAX, HEADER_ROW_RANGE)
      .optional()
      .meta({ description: "Number of the header's row. The rows above it are skipped.", default: 1 }),
    delimiter: z
      .enum(Object.keys(DELIMITERS) as Delimiter[])
      .optional()
      .meta({ description: "Delimiter between the values of a row.", default: "," }),
    decimal: z.enum([".", ","]).optional().meta({ description: "Decimal mark of numbers.", default: "." }),
    from: z
      .guid("must be the ID of an upload")
      .overwrite((id) => id.toLowerCase())
      .optional()
      .meta({ description: "ID of an earlier upload whose mapping is used again. Send it alone." }),
  })
  .meta({
    id: "WorkItemUploadMapping",
    description:
      "How the columns of a file become work items: either `fields` with its options, or `from` alone. Extension.",
  });

const TOO_LARGE = rule("too_big", `must be at most ${MAPPING_MAX_BYTES} bytes of JSON`);
const TOO_MANY_SOURCES = rule("too_big", `must have at most ${SOURCES_MAX} sources, those in first_of included`);
type Rule = ReturnType<typeof rule>;

function countSources(sources: readonly Source[]): number {
  return sources.reduce((sum, { first_of: inner = [] }) => sum + 1 + countSources(inner), 0);
}

/** Which limit a mapping exceeds; undefined if it exceeds none. */
function problemOfSize(mapping: z.output<typeof shape>): Rule | undefined {
  const { fields = {}, event = {} } = mapping;
  if (Buffer.byteLength(JSON.stringify(mapping)) > MAPPING_MAX_BYTES) return TOO_LARGE;
  const sources = countSources([...Object.values(fields), ...Object.values(event)]);
  return sources > SOURCES_MAX ? TOO_MANY_SOURCES : undefined;
}

/** The shape of a mapping. `problemsOfMapping` finds what else may be wrong with it. */
export const mappingSchema = z.preprocess(
  (value, context) => {
    // Before the shape is checked: deep nesting would exhaust the stack, and a key `__proto__` would be lost silently.
    const problem = findForbidden(value, LEVELS_MAX);
    if (problem === null) return value;
    context.issues.push(issueOf(problem, value));
    return z.NEVER;
  },
  // One check only: behind two, the API's document would lose the schema.
  shape.check(({ value, issues }) => {
    const problem = problemOfSize(value);
    if (problem) issues.push({ code: "custom", input: value, message: problem.error, params: problem.params });
  }),
);
/** A value of `mappingSchema`. */
export type Mapping = z.output<typeof shape>;

/** A problem of a mapping with its path in the request. */
export function mappingPath(problem: Problem): Problem {
  return under("upload", under("mapping", problem));
}
