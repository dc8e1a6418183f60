import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { PROJECT_ROOT } from "../build.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { clientTypesOf } from "./client-types.ts";
import { createOpenApiDocument, type OpenApiDocument } from "./document.ts";
import { runCommand, UsageError } from "../cli/operator/administration.ts";

const FILE = join(PROJECT_ROOT, "docs/openapi.json");
const CLIENT_TYPES = join(PROJECT_ROOT, "lib/client/api.ts");

const committed = (): OpenApiDocument | undefined => {
  try {
    return JSON.parse(readFileSync(FILE, "utf8")) as OpenApiDocument;
  } catch {
    return undefined;
  }
};

/** `npm run openapi`: writes the document and the types of the client, unless it breaks what the one that is there promises. */
await runCommand(async () => {
  const { values } = parseArgs({ options: { breaking: { type: "boolean", default: false } } });
  const document = createOpenApiDocument();
  const before = committed();
  const broken = before === undefined ? [] : breakingChanges(before, document);
  if (broken.length > 0 && !values.breaking) {
    throw new UsageError(
      `${broken.join("\n")}\nCallers of the documented interface would fail. With a new version: npm run openapi -- --breaking`,
    );
  }
  writeFileSync(FILE, `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(CLIENT_TYPES, clientTypesOf(document));
  return [FILE, CLIENT_TYPES].map((file) => `${relative(process.cwd(), file)} is written`).join("\n");
});
