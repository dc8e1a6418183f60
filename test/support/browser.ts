import axe, { type AxeResults } from "axe-core";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether the tests in a browser can run. Without Chromium they are skipped, which they say. */
export const hasBrowser = existsSync(CHROMIUM);
if (!hasBrowser) {
  console.warn(`SKIPPED: all tests in a browser. There is no ${CHROMIUM}: install Chromium, or name it in CHROMIUM.`);
}

/** Starts Chromium without a window. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"], timeout: 0 });

/** Kinds of screens on which pages are looked at. */
export const SCREENS = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const satisfies Record<string, BrowserContextOptions>;

/** A page, and what went wrong in it so far. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of scripts and of the content security policy, and requests to other origins. */
  readonly complaints: string[];
}

/** Opens an empty page. @param origins those that it may send requests to */
export const openPage = async (
  browser: Browser,
  origins: readonly string[],
  options: BrowserContextOptions = SCREENS.desktop,
): Promise<WatchedPage> => {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  // The browser's console leaves out what a script tried in vain.
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (e) => console.error('policy', e.violatedDirective, e.blockedURI))",
  );
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (["http:", "https:"].includes(url.protocol) && !origins.includes(url.origin))
      complaints.push(`request: ${url.href}`);
  });
  return { page, complaints };
};

/** Keeps a picture of a page in the directory that SCREENSHOTS names, for people to look at. */
export const takeScreenshot = async (page: Page, name: string): Promise<void> => {
  const directory = process.env["SCREENSHOTS"];
  if (directory !== undefined) await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
};

/**
 * The rules of WCAG 2.2 (A, AA) and good practice that a page breaks, each with the elements.
 * @param rules those of colours alone are enough for a page that was looked at in other colours before
 */
export const accessibilityFindings = async (page: Page, rules: "all" | "colours" = "all"): Promise<string[]> => {
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(axe.source);
  const runOnly = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
  // Describing every element that keeps a rule takes longer than the rules do.
  const options = { resultTypes: ["violations"], ...(rules === "colours" && { runOnly }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
};
