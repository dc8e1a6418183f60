import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PROJECT_ROOT } from "../build.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { clientTypesOf } from "./client-types.ts";
import { createOpenApiDocument, type OpenApiDocument } from "./document.ts";
import { createCommandLine, runCommand, UsageError } from "../terminal/command-line.ts";
import { processTerminal } from "../terminal/terminal.ts";

const FILE = join(PROJECT_ROOT, "docs/openapi.json");
const CLIENT_TYPES = join(PROJECT_ROOT, "apps/client/openapi-types.ts");

function committed(): OpenApiDocument | undefined {
  try {
    return JSON.parse(readFileSync(FILE, "utf8")) as OpenApiDocument;
  } catch {
    return undefined;
  }
}

function writeDocument({ breaking = false }: { readonly breaking?: boolean }): void {
  const document = createOpenApiDocument();
  const before = committed();
  const broken = before === undefined ? [] : breakingChanges(before, document);
  if (broken.length > 0 && !breaking) {
    throw new UsageError(
      `${broken.join("\n")}\nCallers of the documented interface would fail. With a new version: npm run openapi -- --breaking`,
    );
  }
  writeFileSync(FILE, `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(CLIENT_TYPES, clientTypesOf(document));
  for (const file of [FILE, CLIENT_TYPES]) terminal.print(`${relative(process.cwd(), file)} is written`);
}

const terminal = processTerminal();
const program = createCommandLine(terminal, "npm run openapi --", "Write the OpenAPI document and the client's types");
program.option("--breaking", "write even if callers of the committed document would fail").action(writeDocument);
process.exitCode = await runCommand(terminal, program);
