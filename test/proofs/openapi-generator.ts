import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { skip } from "./skip.ts";

/**
 * Runs for `npm run prove -- openapi-generator`: makes clients of the OpenAPI document in three languages, with the options
 * of docs/api.md, and compiles them.
 */
const VERSION = "7.17.0";
const { OPENAPI_GENERATOR: jar } = process.env;
if (jar === undefined) {
  skip(`it needs Java with Maven, Go, and the generator:
  mvn dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:${VERSION}:jar -DoutputDirectory=.
  OPENAPI_GENERATOR=$PWD/openapi-generator-cli-${VERSION}.jar npm run prove -- openapi-generator`);
}

const ROOT = join(import.meta.dirname, "../..");
const directory = mkdtempSync(join(tmpdir(), "openapi-generator-"));
const TYPESCRIPT = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    lib: ["es2022", "dom"],
    types: [],
  },
};
/** What each client is generated with, and the program that compiles it. */
const CLIENTS = {
  "typescript-fetch": {
    options: [
      "--global-property=apis,models,supportingFiles",
      "--additional-properties=prefixParameterInterfaces=true",
    ],
    compile: [process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."],
  },
  go: { options: ["--additional-properties=enumClassPrefix=true"], compile: ["go", "build", "./..."] },
  java: { options: [], compile: ["mvn", "-q", "-B", "compile"] },
} as const;

try {
  for (const [generator, { options, compile }] of Object.entries(CLIENTS)) {
    const cwd = join(directory, generator);
    const document = ["-i", join(ROOT, "docs/openapi.json"), "-g", generator, "-o", cwd];
    await promisify(execFile)("java", ["-jar", jar, "generate", ...document, ...options], { maxBuffer: 2 ** 26 });
    writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify(TYPESCRIPT));
    const [program, ...args] = compile;
    await promisify(execFile)(program, args, { cwd, maxBuffer: 2 ** 26 });
    console.log(`${generator} compiles`);
  }
} catch (error) {
  // tsc prints what is wrong to its standard output.
  const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
  console.error(stdout + stderr || error);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}
