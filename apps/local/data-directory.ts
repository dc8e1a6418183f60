import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { assertReads, DATA_VERSION } from "@work-items/lib/store/data-version.ts";
import { CommandError } from "@work-items/terminal/command-line.ts";
import { reasonOf } from "@work-items/terminal/plain-reason.ts";
import { type LocalFiles, localFilesIn } from "@work-items/terminal/environment-file.ts";

/** Only this user may read the data, since developers try the service with real data. */
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;
/** How long to wait for another local service that is stopping, or an engine whose parent was just killed. */
const GONE_WITHIN_MS = 3000;

/** The directory that keeps all data between starts. Only one local service at a time can use it. */
export interface DataDirectory {
  readonly path: string;
  readonly dynamodbFile: string;
  readonly queues: string;
  readonly objects: string;
  /** Directory of the built pages. */
  readonly pages: string;
  /** File that says how far the table's stream has been handled. */
  readonly streamCheckpoints: string;
  /** Files of `NAME=value` lines for the commands. */
  readonly files: LocalFiles;
  /** File of everything that the functions print. */
  readonly logFile: string;
  readonly log: number;
  /** Notes that what is stored has this code's version from now on. */
  writeVersion(): void;
  /** Unlocks the directory for other local services. */
  close(): void;
}

/** SQLITE_BUSY: another process has locked the file. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}

/** Locks a SQLite file for this process. The operating system releases the lock even after a kill -9. */
function lock(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Locks a SQLite file, waiting for another process to release it. @returns undefined if it stays locked */
async function lockWhenFree(file: string): Promise<DatabaseSync | undefined> {
  const deadline = Date.now() + GONE_WITHIN_MS;
  for (;;) {
    try {
      return lock(file);
    } catch (error) {
      if (!isBusy(error)) throw new CommandError(`${file} is broken: ${reasonOf(error)}`);
      if (Date.now() > deadline) return undefined;
    }
    await sleep(50);
  }
}

/** Checks that no earlier engine still has the file open: two processes would corrupt it. */
async function assertFree(file: string): Promise<void> {
  const database = await lockWhenFree(file);
  if (database === undefined) throw new CommandError(`another process has ${file} open`);
  database.close();
}

/**
 * Creates a directory and those above it. Node's `recursive` never returns where the file system gives no reason for refusing, such
 * as in /proc. @throws Error of the file system
 */
function makeDirectory(path: string): void {
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  try {
    mkdirSync(path, PRIVATE_DIRECTORY);
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

/** Creates a file that only this user may read, or takes an existing one from other users. */
function makePrivateFile(file: string): void {
  if (existsSync(file)) chmodSync(file, PRIVATE_FILE);
  else writeFileSync(file, "", { mode: PRIVATE_FILE, flag: "a" });
}

function isEmpty(file: string): boolean {
  return statSync(file).size === 0;
}

/** @throws CommandError if this code doesn't read the directory's version */
function assertVersion(path: string, versionFile: string): void {
  const text = readFileSync(versionFile, "utf8").trim();
  // A start writes this file last, with the code of that time.
  const { stack } = localFilesIn(path);
  const { mtime } = statSync(existsSync(stack) ? stack : versionFile);
  const which = `git log -1 --format=%h --until=${mtime.toISOString()}`;
  const remedy = `the commit that last used it does (${which}); or delete it, or name another folder with DATA_DIR`;
  try {
    assertReads(text === "" ? undefined : Number(text), remedy);
  } catch (error) {
    throw new CommandError(`${path}: ${(error as Error).message}`);
  }
}

/**
 * Opens the directory, creating it if it is missing, and locks it.
 * @throws CommandError if it can't be used, another local service uses it, or another version wrote it
 */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory);
  const inside = (name: string): string => join(path, name);
  const queues = inside("queues");
  const objects = inside("objects");
  const queuesFile = join(queues, "fauxqs.db");
  const dynamodbFile = inside("dynamodb.sqlite");
  const holderFile = inside("holder");
  const lockFile = inside("lock");
  const logFile = inside("functions.log");
  const versionFile = inside("version");
  try {
    // An existing directory keeps its own mode: others may use it too.
    makeDirectory(path);
    for (const each of [queues, objects]) {
      makeDirectory(each);
      chmodSync(each, PRIVATE_DIRECTORY);
    }
    for (const file of [dynamodbFile, queuesFile, versionFile, holderFile, lockFile, logFile]) makePrivateFile(file);
  } catch (error) {
    throw new CommandError(`the data directory ${path} cannot be used: ${reasonOf(error)}`);
  }
  const locked = await lockWhenFree(lockFile);
  if (locked === undefined) {
    const holder = readFileSync(holderFile, "utf8").trim();
    throw new CommandError(`the data directory ${path} is in use by another local service (process ${holder})`);
  }
  const writeVersion = (): void => writeFileSync(versionFile, `${DATA_VERSION}\n`);
  try {
    writeFileSync(holderFile, `${process.pid}\n`);
    // SQLite writes a page when it locks an empty file.
    if ([dynamodbFile, queuesFile, versionFile].every(isEmpty)) writeVersion();
    await Promise.all([assertFree(dynamodbFile), assertFree(queuesFile)]);
    assertVersion(path, versionFile);
    const log = openSync(logFile, "a");
    return {
      path,
      dynamodbFile,
      queues,
      objects,
      files: localFilesIn(resolve(path)),
      streamCheckpoints: inside("stream.json"),
      pages: inside("pages"),
      logFile,
      log,
      writeVersion,
      close: () => {
        closeSync(log);
        locked.close();
      },
    };
  } catch (error) {
    locked.close();
    throw error;
  }
}
