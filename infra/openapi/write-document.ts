import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PROJECT_ROOT } from "../build.ts";
import { clientTypesOf } from "./client-types.ts";
import { createOpenApiDocument } from "./document.ts";
import { createCommandLine, runCommand } from "../terminal/command-line.ts";
import { processTerminal } from "../terminal/terminal.ts";

const FILE = join(PROJECT_ROOT, "docs/openapi.json");
const CLIENT_TYPES = join(PROJECT_ROOT, "apps/client/openapi-types.ts");

const terminal = processTerminal();
const program = createCommandLine(terminal, "npm run openapi", "Write the OpenAPI document and the client's types");
program.action(() => {
  const document = createOpenApiDocument();
  writeFileSync(FILE, `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(CLIENT_TYPES, clientTypesOf(document));
  for (const file of [FILE, CLIENT_TYPES]) terminal.print(`${relative(process.cwd(), file)} is written`);
});
process.exitCode = await runCommand(terminal, program);
