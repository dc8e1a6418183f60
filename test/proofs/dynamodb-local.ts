import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { runTests } from "../support/test-run.ts";
import { skip } from "./skip.ts";

/**
 * Runs for `npm run prove -- dynamodb-local`: all tests, or those whose paths contain a part that
 * `DYNAMODB_LOCAL_TESTS` names, on Amazon's DynamoDB Local instead of the embedded engine.
 */
const FILTERS = process.env["DYNAMODB_LOCAL_TESTS"]?.split(" ") ?? [];
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const JARS = pathOf("../../node_modules/.cache/dynamodb-local");
const COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

const isInstalled = (program: string): boolean => spawnSync(program, ["-version"], { stdio: "ignore" }).status === 0;

/** Copies the jars that `pom.xml` names from Maven's registry. @returns what is missing, if anything */
const fetchJars = async (): Promise<string | undefined> => {
  if (existsSync(JARS)) return undefined;
  if (!isInstalled("mvn")) return "its jar is missing, and Maven, which would fetch it, is not installed";
  const incomplete = `${JARS}.making`;
  const fetched = spawnSync(
    "mvn",
    ["-q", "-B", "-f", pathOf("dynamodb-local/pom.xml"), COPY_JARS, `-DoutputDirectory=${incomplete}`],
    {
      encoding: "utf8",
    },
  );
  if (fetched.status === 0) return rename(incomplete, JARS).then(() => undefined);
  await rm(incomplete, { recursive: true, force: true });
  return `its jar is missing: ${/\[ERROR\] (.*)/.exec(fetched.stdout)?.[1] ?? "Maven failed"}`;
};

const missing = isInstalled("java") ? await fetchJars() : "Java is not installed";
if (missing !== undefined) skip(missing);
process.env["DYNAMODB_COMMAND"] = [
  "java",
  `-Djava.library.path=${JARS}`,
  "-cp",
  `${JARS}/*`,
  "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
  "-inMemory",
  "-sharedDb",
  "-disableTelemetry",
  "-port",
].join(" ");
// It does one thing at a time.
process.env["VITEST_MAX_WORKERS"] ??= String(availableParallelism());
const { passed, failed } = await runTests(FILTERS);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
