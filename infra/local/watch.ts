import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";
import type { BuildFailure } from "esbuild";
import { functionNames, functionsContext, PROJECT_ROOT } from "../build.ts";
import type { FunctionDefinition } from "./lambda/instance.ts";
import type { LambdaFunction } from "./lambda/lambda-function.ts";
import { ReplaceableFunction } from "./lambda/replaceable-function.ts";
import type { LocalStack } from "./stack.ts";

const WATCHED = ["docs", "functions", "infra", "lib"];
/** Other files are those of editors. */
const SOURCE = /\.(ts|tsx|mjs|json|md|html|css)$/;
/** What only a start reads: what the template and the pages are made of, and the local stack itself. */
const READ_AT_START =
  /^(infra\/(?!cli\/|openapi\/)|docs\/guides\/|functions\/(routes|workers|pages)|lib\/(regions|resources|aws\/permissions|http\/route)\.ts)/;
/** Not part of any function. */
const NOT_BUNDLED = /^(infra|docs\/guides)\//;
/** Editors save a file in several steps. */
const SETTLE_MS = 50;
const NAMED_MAX = 3;

/** Some of the names, and how many others there are. */
function inWords(names: readonly string[]): string {
  const others = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(", ") + (others > 0 ? ` and ${others} more` : "");
}

/** The first error of a build, with its place, and how many others there are. */
function reasonOf({ errors: [first, ...others] }: BuildFailure): string {
  const { file, line = 0, column = 0 } = first?.location ?? {};
  const place = file === undefined ? "" : `${file}:${line}:${column + 1}: `;
  return `${place}${first?.text}${others.length > 0 ? ` (and ${others.length} more)` : ""}`;
}

/** A build that failed, as esbuild reports it. */
function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error;
}

/** Bundles the functions of a local stack again whenever a source changes, and runs those that are not what they were. */
export class FunctionWatcher {
  readonly #functions = new Map<string, ReplaceableFunction>();
  #directory = "";
  #stackName = "";
  #watcher: FSWatcher | undefined;
  readonly #changed = new Set<string>();
  #context: Awaited<ReturnType<typeof functionsContext>> | undefined;
  /** Hashes of the files in the directory. */
  #written = new Map<string, string>();
  /** Files that the last bundles but one consisted of. */
  #obsolete: readonly string[] = [];
  #building: Promise<void> | undefined;
  /** Why the last build failed; undefined if it did not. */
  #failure: string | undefined;

  /** Makes a function for the stack, before the start. */
  readonly functionOf = (definition: FunctionDefinition, log: readonly number[]): LambdaFunction => {
    const made = new ReplaceableFunction(definition, log);
    this.#functions.set(definition.name, made);
    return made;
  };

  /** Bundles all functions and runs them; from then on, those that change. */
  async start({ dataDirectory, stackName }: Pick<LocalStack, "dataDirectory" | "stackName">): Promise<void> {
    this.#stackName = stackName;
    this.#directory = join(dataDirectory, "watch");
    await rm(this.#directory, { recursive: true, force: true });
    await mkdir(this.#directory, { mode: 0o700 });
    await writeFile(join(this.#directory, "package.json"), '{ "type": "module" }');
    this.#context = await functionsContext(this.#directory);
    // Node's own watch loses a file that an editor has replaced.
    this.#watcher = watch(WATCHED, { cwd: PROJECT_ROOT, ignoreInitial: true })
      .on("all", (_, file) => this.#change(file))
      .on("error", (error) => console.error(`changes may not be noticed any more: ${String(error)}`));
    await new Promise<void>((resolve) => this.#watcher?.once("ready", resolve));
    this.#building = this.#buildChanges();
    await this.#building;
  }

  async stop(): Promise<void> {
    await this.#watcher?.close();
    await this.#building;
    await this.#context?.dispose();
  }

  #change(file: string): void {
    if (!SOURCE.test(file)) return;
    this.#changed.add(file);
    this.#building ??= this.#buildChanges();
  }

  /** Builds at least once, until nothing has changed meanwhile. */
  async #buildChanges(): Promise<void> {
    do {
      await sleep(SETTLE_MS);
      const files = [...this.#changed];
      this.#changed.clear();
      if (files.length === 0 || !files.every((file) => NOT_BUNDLED.test(file))) await this.#build();
      const notServed = files.filter((file) => READ_AT_START.test(file));
      if (notServed.length > 0) {
        console.log(
          `${inWords(notServed)} changed: restart npm start to apply changes to template, pages or local stack`,
        );
      }
    } while (this.#changed.size > 0);
    this.#building = undefined;
  }

  /** Bundles, and runs the functions whose code is not what it was. An error is printed. */
  async #build(): Promise<void> {
    const start = performance.now();
    try {
      const names = await this.#writeBundles();
      for (const name of names) {
        await this.#functions.get(`${this.#stackName}-${name}`)?.replaceCode(join(this.#directory, name));
      }
      const ms = Math.round(performance.now() - start);
      if (names.length > 0 || this.#failure !== undefined)
        console.log(`built ${inWords(names) || "what is running"} in ${ms} ms`);
      this.#failure = undefined;
    } catch (error) {
      const reason = isBuildFailure(error) ? reasonOf(error) : String(error);
      // One save may come as two changes.
      if (reason === this.#failure) return;
      this.#failure = reason;
      console.error(`${reason}\nThe build failed. The previous version is still running.`);
    }
  }

  /** @returns the names of the functions that have changed */
  async #writeBundles(): Promise<readonly string[]> {
    const { outputFiles = [] } = (await this.#context?.rebuild()) ?? {};
    const before = this.#written;
    this.#written = new Map(outputFiles.map(({ path, hash }) => [path, hash]));
    const changed = outputFiles.filter(({ path, hash }) => before.get(path) !== hash);
    for (const { path, contents } of changed) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, contents);
    }
    // An instance that is just starting may still read files of the bundles before.
    await Promise.all(this.#obsolete.filter((path) => !this.#written.has(path)).map((path) => rm(path)));
    this.#obsolete = [...before.keys()].filter((path) => !this.#written.has(path));
    const paths = new Set(changed.map(({ path }) => path));
    return functionNames.filter((name) => paths.has(join(this.#directory, name, "index.js")));
  }
}
