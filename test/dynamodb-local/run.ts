import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { startDynamoDbProcess } from "../../infra/local/engines/dynamodb.ts";

/** Runs for `npm run test:dynamodb-local`: the suite on Amazon's DynamoDB Local instead of the embedded engine. */
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
    ["-q", "-B", "-f", pathOf("pom.xml"), COPY_JARS, `-DoutputDirectory=${incomplete}`],
    {
      encoding: "utf8",
    },
  );
  if (fetched.status === 0) return rename(incomplete, JARS).then(() => undefined);
  await rm(incomplete, { recursive: true, force: true });
  return `its jar is missing: ${/\[ERROR\] (.*)/.exec(fetched.stdout)?.[1] ?? "Maven failed"}`;
};

const missing = isInstalled("java") ? await fetchJars() : "Java is not installed";
if (missing !== undefined) {
  console.error(`DynamoDB Local cannot run: ${missing}`);
  process.exit(1);
}
const engine = await startDynamoDbProcess((port) => [
  "java",
  `-Djava.library.path=${JARS}`,
  "-cp",
  `${JARS}/*`,
  "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
  "-inMemory",
  "-sharedDb",
  "-disableTelemetry",
  "-port",
  String(port),
]);
const filters = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  // A filter also leaves out types, lint and format, which `npm test` checks.
  [pathOf("../run-suite.ts"), ...(filters.length > 0 ? filters : ["test/"])],
  { stdio: "inherit", env: { ...process.env, DYNAMODB_ENDPOINT: engine.endpoint } },
);
await engine.stop();
process.exit(status ?? 1);
