import type { Language } from "./languages.ts";
import { type Operation, resolve } from "./operations.ts";

const BASE_URL = "http://localhost:3000";
/** The file that samples upload. */
export const SAMPLE_FILE = "work_items.csv";

interface Request {
  readonly method: string;
  readonly url: string;
  readonly isPublic: boolean;
  /** Headers beside the key and the type of the body. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
  /** Whether the body is the file. */
  readonly isUpload: boolean;
  readonly isJson: boolean;
}

/** The body that a person may send without harm: batches are only tried. */
export function exampleBody({ json }: Operation): unknown {
  const example = json?.example;
  const { properties = {} } = json ? resolve(json.schema) : {};
  return "dry_run" in properties ? { ...(example as object), dry_run: true } : example;
}

function requestOf(operation: Operation): Request {
  const { method, isPublic, parameters, form } = operation;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each) => each.name === name);
    return String(parameter?.example ?? name);
  });
  const isUpload = form !== undefined;
  const content = operation.responses[0]?.contentType ?? "";
  return {
    method,
    url: BASE_URL + path,
    isPublic,
    headers: parameters.flatMap(({ in: place, name, example }) =>
      place === "header" && name === "Idempotency-Key" ? [[name, String(example)] as const] : [],
    ),
    body: isUpload ? undefined : exampleBody(operation),
    isUpload,
    isJson: content.endsWith("json"),
  };
}

function curl({ method, url, isPublic, headers, body, isUpload }: Request): string {
  // By a body curl knows that it is a POST.
  const isImplied = method === "GET" || (method === "POST" && (isUpload || body !== undefined));
  const lines = [
    `curl${isImplied ? "" : ` -X ${method}`} "${url}"`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $API_KEY"']),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(isUpload ? [`-F "upload[file]=@${SAMPLE_FILE};type=text/csv"`] : []),
    ...(body === undefined
      ? []
      : [
          '-H "Content-Type: application/json"',
          `-d '${JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ];
  return lines.join(" \\\n  ");
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

function typeScript({ method, url, isPublic, headers, body, isUpload, isJson }: Request): string {
  const headerLines = [
    ...(isPublic ? [] : ["Authorization: `Bearer ${process.env.API_KEY}`,"]),
    ...(body === undefined ? [] : ['"Content-Type": "application/json",']),
    ...headers.map(([name, value]) => `"${name}": "${value}",`),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headerLines.length === 0 ? [] : [`  headers: {\n    ${headerLines.join("\n    ")}\n  },`]),
    ...(isUpload ? ["  body: form,"] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, undefined, 2))}),`]),
  ];
  return [
    ...(isUpload
      ? [
          'import { openAsBlob } from "node:fs";\n',
          "const form = new FormData();",
          `form.append("upload[file]", await openAsBlob("${SAMPLE_FILE}"), "${SAMPLE_FILE}");`,
        ]
      : []),
    options.length === 0
      ? `const response = await fetch("${url}");`
      : `const response = await fetch("${url}", {\n${options.join("\n")}\n});`,
    `console.log(response.status, await response.${isJson ? "json" : "text"}());`,
  ].join("\n");
}

/** A JSON value in Python. */
function literal(value: unknown, indent: string): string {
  const deeper = `${indent}    `;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const entries = Array.isArray(value)
    ? value.map((each) => literal(each, deeper))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${literal(each, deeper)}`);
  return entries.length === 0 ? open + close : `${open}\n${deeper}${entries.join(`,\n${deeper}`)},\n${indent}${close}`;
}

function python({ method, url, isPublic, headers, body, isUpload, isJson }: Request): string {
  const headerTexts = [
    ...(isPublic ? [] : ['"Authorization": "Bearer " + os.environ["API_KEY"]']),
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
  ];
  const lines = [
    `"${url}",`,
    ...(headerTexts.length === 0 ? [] : [`headers={${headerTexts.join(", ")}},`]),
    ...(isUpload ? [`files={"upload[file]": open("${SAMPLE_FILE}", "rb")},`] : []),
    ...(body === undefined ? [] : [`json=${literal(body, "    ")},`]),
  ];
  return [
    isPublic ? "import requests\n" : "import os\n\nimport requests\n",
    `response = requests.${method.toLowerCase()}(`,
    ...lines.map((line) => `    ${line}`),
    ")",
    `print(response.status_code, response.${isJson ? "json()" : "text"})`,
  ].join("\n");
}

/** The code of a call in each language. */
export function samplesOf(operation: Operation): (readonly [Language, string])[] {
  const request = requestOf(operation);
  return [
    ["bash", curl(request)],
    ["ts", typeScript(request)],
    ["python", python(request)],
  ];
}
