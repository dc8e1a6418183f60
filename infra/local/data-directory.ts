import { createWriteStream, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { LocalStackError, reasonOf } from "./local-stack-error.ts";

/** What the functions print is kept up to here, and then begun anew at the next start. */
const LOG_MAX_BYTES = 64 * 1024 * 1024;
/** A local stack that is just stopping, or an engine whose parent was killed a moment ago, is gone by then. */
const GONE_WITHIN_MS = 3000;

/** Where the local stack keeps everything between starts; one local stack at a time has it. */
export interface DataDirectory {
  readonly path: string;
  readonly dynamodbFile: string;
  readonly queues: string;
  readonly objects: string;
  /** `NAME=value` lines for the command lines. */
  readonly environmentFile: string;
  /** What the functions print. */
  readonly log: Writable;
  /** Lets another local stack have it. */
  close(): Promise<void>;
}

export const environmentFileOf = (dataDirectory: string): string => join(resolve(dataDirectory), "env");

/** SQLITE_BUSY: another process has the file. */
const isBusy = (error: unknown): boolean => error instanceof Error && "errcode" in error && error.errcode === 5;

/** Locks a SQLite file for this process; the operating system takes the lock back even after a kill -9. */
const lock = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Locks it as soon as whoever has it is gone. @returns undefined where nobody goes */
const lockWhenFree = async (file: string): Promise<DatabaseSync | undefined> => {
  const deadline = Date.now() + GONE_WITHIN_MS;
  for (;;) {
    try {
      return lock(file);
    } catch (error) {
      if (!isBusy(error)) throw new LocalStackError(`${file} is broken: ${reasonOf(error)}`);
      if (Date.now() > deadline) return undefined;
    }
    await sleep(50);
  }
};

/** Two processes on one file would corrupt it: an engine of before must have ended. */
const assertFree = async (file: string): Promise<void> => {
  const database = await lockWhenFree(file);
  if (database === undefined) throw new LocalStackError(`another process has ${file} open`);
  database.close();
};

const openLog = (file: string): Writable => {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES) truncateSync(file);
  const log = createWriteStream(file, { flags: "a" });
  // Every instance of a function writes to it.
  log.setMaxListeners(0);
  // A full disk costs the log, not the service.
  log.on("error", () => {});
  return log;
};

/**
 * Opens the directory, made where it is missing, and keeps others out of it.
 * @throws LocalStackError where it cannot be used, or another local stack uses it
 */
export const openDataDirectory = async (directory: string): Promise<DataDirectory> => {
  const path = resolve(directory);
  const inside = (name: string): string => join(path, name);
  const [queues, objects, dynamodbFile] = [inside("queues"), inside("objects"), inside("dynamodb.sqlite")];
  try {
    for (const made of [path, queues, objects]) mkdirSync(made, { recursive: true });
  } catch (error) {
    throw new LocalStackError(`the data directory ${path} cannot be used: ${reasonOf(error)}`);
  }
  const holderFile = inside("holder");
  const held = await lockWhenFree(inside("lock"));
  if (held === undefined) {
    const holder = readFileSync(holderFile, { encoding: "utf8", flag: "a+" }).trim();
    throw new LocalStackError(`the data directory ${path} is in use by another local stack (process ${holder})`);
  }
  try {
    writeFileSync(holderFile, `${process.pid}\n`);
    await Promise.all([assertFree(dynamodbFile), assertFree(join(queues, "fauxqs.db"))]);
    const log = openLog(inside("functions.log"));
    return {
      path,
      dynamodbFile,
      queues,
      objects,
      environmentFile: environmentFileOf(path),
      log,
      close: async () => {
        await new Promise<void>((done) => log.end(() => done()));
        held.close();
      },
    };
  } catch (error) {
    held.close();
    throw error;
  }
};
