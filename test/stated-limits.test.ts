import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BODY_MAX_BYTES } from "../lib/http/request-body.ts";
import { BURST_DEFAULT, RATE_DEFAULT } from "../lib/organizations/organization.ts";
import { CURSORS_VALID_DAYS, FAILING_DAYS_MAX, UNDO_DAYS, UPLOADS_KEPT_DAYS } from "../lib/periods.ts";
import { CLAIM_MS } from "../lib/uploads/job/claim.ts";
import { FORM_MAX_BYTES } from "../lib/uploads/job/upload-job.ts";
import { ITEMS_PER_BATCH_MAX } from "../lib/work-items/work-item.ts";

const ROOT = join(import.meta.dirname, "..");
/** What each document says, without marks and the lines of tables. */
const documents = globSync(["*.md", "docs/**/*.md", "apps/*/README.md"], { cwd: ROOT }).map((file) => {
  const text = readFileSync(join(ROOT, file), "utf8").replaceAll(/[\s|`*⁺]+/g, " ");
  return { file: file.replace(/^docs\//, "").replace(/\.md$/, ""), text };
});

/** A constant's value, the sentences in which documents name it, and the names of these documents. */
it.each<[value: number, sentence: RegExp, files: string]>([
  [
    FAILING_DAYS_MAX,
    /webhook is (?:disabled|off)(?: after)? (\d+) days|(\d+) days they are disabled/g,
    "adr/0021-one-way-to-write guides/8-get-notified operations reference/6-limits",
  ],
  [
    UNDO_DAYS,
    /(\d+) days (?:after (?:the upload|its upload|it ended)|ago)|undo an import for (\d+) days/g,
    "guides/0-import-a-file reference/0-errors reference/4-uploads reference/6-limits reference/8-questions",
  ],
  [
    UPLOADS_KEPT_DAYS,
    /(?:are kept|they live|three imports) for (\d+) days|expires? after (\d+) days|results(?: are deleted after)? (\d+) days/g,
    "architecture operations reference/4-uploads reference/6-limits reference/8-questions",
  ],
  [
    CURSORS_VALID_DAYS,
    /cursor is older than (\d+) days|valid for (\d+) days/g,
    "guides/6-keep-a-copy reference/0-errors reference/3-lists reference/6-limits",
  ],
  [
    RATE_DEFAULT,
    /an organization (\d+) a second|--rate (\d+) --burst \d+ (?:--listing|is what a new)|rate of 20, not (\d+)/g,
    "operations performance reference/6-limits runbook",
  ],
  [
    BURST_DEFAULT,
    /\d+ a second, (\d+) at once; operators|--rate \d+ --burst (\d+) (?:--listing|is what a new)/g,
    "operations reference/6-limits runbook",
  ],
  [
    ITEMS_PER_BATCH_MAX,
    /(?:has|batches of|apply|returns|restores|send) up to (\d+) (?:work )?(?:items|at a time|of their)|(\d+) items a call|batch_get (\d+)/g,
    "CHANGELOG apps/client/README guides/2-nightly-sync integrators reference/1-requests reference/6-limits",
  ],
  [
    CLAIM_MS / 1000,
    /claims a shard for (\d+) s|starts (?:no sooner than )?(\d+) s(?:econds)? after/g,
    "guides/7-undo-an-import reference/4-uploads reliability",
  ],
  [
    BODY_MAX_BYTES / 1024 ** 2,
    /(?:up to|at most|Up to|multipart upload) (\d+) MiB/g,
    "adr/0005-checks-before-middy-body-parsers apps/client/README guides/3-files reference/6-limits",
  ],
  [
    FORM_MAX_BYTES / 1024 ** 3,
    /(\d+) GiB/g,
    "CHANGELOG adr/0031-one-function-for-files-of-every-size guides/3-files integrators reference/6-limits",
  ],
])("documents name %d in sentences such as %s", (value, sentence, files) => {
  const said = documents.flatMap(({ file, text }) => {
    const numbers = [...text.matchAll(sentence)].map((match) => match.slice(1).find(Boolean));
    return numbers.length === 0 ? [] : [[file, [...new Set(numbers)]]];
  });
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(files.split(" ").map((file) => [file, [String(value)]])));
});
