import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { startTestService } from "../support/local-service.ts";
import { type BenchRow, rowsOf } from "./row.ts";

const { atLeast } = rowsOf("pages");

/** Not among the dependencies: it brings a hundred packages that only this needs, so npm fetches it when it is run. */
const LIGHTHOUSE = "lighthouse@13.5.0";
const PATHS = ["", "docs", "docs/list-work-items", "docs/upload-work-items", "docs/errors", "docs/files", "upload"];
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
/** Lighthouse's own scale, of which 100 is the best. */
const GOAL = 95;

type Scores = Readonly<Record<(typeof CATEGORIES)[number], { readonly score: number }>>;

async function scoresOf(url: string): Promise<Scores> {
  const flags = ["--quiet", "--output=json", "--chrome-flags=--headless=new --no-sandbox"];
  const env = { ...process.env, CHROME_PATH: process.env["CHROMIUM"] ?? "/usr/bin/chromium" };
  const { stdout } = await promisify(execFile)("npx", ["--yes", LIGHTHOUSE, url, ...flags], {
    cwd: tmpdir(),
    env,
    maxBuffer: 2 ** 26,
  });
  return (JSON.parse(stdout) as { readonly categories: Scores }).categories;
}

/** Lighthouse's scores of the pages on a phone, as it simulates one. It needs Chromium and the npm registry. */
export async function measure(): Promise<BenchRow[]> {
  const stack = await startTestService();
  const rows: BenchRow[] = [];
  try {
    for (const path of PATHS) {
      const scores = await scoresOf(`${stack.baseUrl}/${path}`);
      for (const category of CATEGORIES) {
        rows.push(atLeast(`/${path}: ${category}`, Math.round(100 * scores[category].score), "of 100", GOAL));
      }
    }
  } finally {
    await stack.stop();
  }
  return rows;
}
