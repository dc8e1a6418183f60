import type { Language } from "./languages.ts";
import { type Operation, operations, resolve } from "./documented-operations.ts";

const BASE_URL = "http://localhost:3000";
/** The file that samples upload. One of its rows fails. */
const FILE = { name: "work_items.csv", text: "external_id,type,completed_at\nT-1,call,\nT-2,call,yesterday\n" };

/** By path: the variable of an ID, the call that creates what has the ID, and where its response has it. */
const PREPARATIONS = [
  {
    path: "/v1/work_items/{id}",
    variable: "id",
    operation: "apply-work-item-batch",
    body: { work_items: [{ external_id: "T-1" }] },
    idAt: ["results", 0, "data", "id"],
  },
  {
    path: "/v1/work_items/{id}/events/{event_id}",
    variable: "event_id",
    operation: "upsert-work-item-event",
    body: { event: { external_id: "e-1" } },
    idAt: ["id"],
  },
  {
    path: "/v1/work_items/upload/{id}",
    variable: "id",
    operation: "upload-work-items",
    body: undefined,
    idAt: ["id"],
  },
  {
    path: "/v1/webhooks/{id}",
    variable: "id",
    operation: "create-webhook",
    body: { webhook: { url: "https://hooks.example.com/work-items" } },
    idAt: ["id"],
  },
] as const;
/** The paths that need an upload that has ended. */
const AFTER_THE_END = /^\/v1\/work_items\/upload\/\{id\}\/(?:undo|failed_rows|results)$/;

/** The example of a body that does no harm: batches are dry runs. */
function exampleBody({ requestBody }: Operation): unknown {
  const json = requestBody?.content["application/json"];
  const example = json?.example;
  const { properties = {} } = json ? resolve(json.schema) : {};
  return "dry_run" in properties ? { ...(example as object), dry_run: true } : example;
}

/** @param made the path's variables that the code has. Others get the values of examples */
function requestOf(operation: Operation, made: ReadonlySet<string>, body?: unknown) {
  const { method, security, parameters, requestBody, responses } = operation;
  const isUpload = requestBody?.content["multipart/form-data"] !== undefined;
  return {
    method,
    /** `{id}` stands for a variable. */
    path: operation.path.replaceAll(/\{(\w+)\}/g, (variable, name: string) =>
      made.has(name) ? variable : String(parameters.find((each) => each.name === name)?.example),
    ),
    isPublic: security !== undefined,
    /** Headers beside the key and the type of the body. Calls that only prepare have no Idempotency-Key: each creates something new. */
    headers: parameters
      .filter(({ in: location, name }) => location === "header" && name === "Idempotency-Key" && body === undefined)
      .map(({ name, example }) => [name, String(example)] as const),
    body: isUpload ? undefined : (body ?? exampleBody(operation)),
    /** Whether the body is the file. */
    isUpload,
    /** Whether the response is JSON. */
    isJson: "application/json" in (Object.values(responses)[0]?.content ?? {}),
  };
}

type Request = ReturnType<typeof requestOf>;

const PYTHON: Readonly<Record<string, string>> = { null: "None", true: "True", false: "False" };

/** A JSON value, on one line if it is short. @param names how a language writes null, true and false. @default as in JSON */
function literal(value: unknown, step: string, names: typeof PYTHON = {}, indent = ""): string {
  if (typeof value !== "object" || value === null) return names[String(value)] ?? JSON.stringify(value);
  const deeper = indent + step;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const entries = Array.isArray(value)
    ? value.map((each) => literal(each, step, names, deeper))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${literal(each, step, names, deeper)}`);
  const line = `${open}${entries.join(", ")}${close}`;
  return line.length < 70 && !line.includes("\n")
    ? line
    : `${open}\n${deeper}${entries.join(`,\n${deeper}`)}\n${indent}${close}`;
}

function curl({ method, path, isPublic, headers, body, isUpload }: Request): string {
  // With a body, curl sends a POST.
  const isImplied = method === "GET" || (method === "POST" && (isUpload || body !== undefined));
  const lines = [
    `curl${isImplied ? "" : ` -X ${method}`} "${BASE_URL}${path.replaceAll(/\{(\w+)\}/g, "$$$1")}"`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $API_KEY"']),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(isUpload ? [`-F "upload[file]=@${FILE.name};type=text/csv"`] : []),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${literal(body, "  ").replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(" \\\n  ");
}

function fetchCall({ method, path, isPublic, headers, body, isUpload }: Request): string {
  const url = path.includes("{") ? `\`${BASE_URL}${path.replaceAll("{", "${")}\`` : `"${BASE_URL}${path}"`;
  const more = [
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}"`]),
    ...(isPublic ? [] : [more.length === 0 ? "headers" : `headers: { ...headers, ${more.join(", ")} }`]),
    ...(isUpload ? ["body: form"] : []),
    ...(body === undefined ? [] : [`body: JSON.stringify(${literal(body, "  ", {}, "  ")})`]),
  ];
  if (options.length === 0) return `fetch(${url})`;
  const isShort = options.length < 3 && body === undefined;
  return isShort
    ? `fetch(${url}, { ${options.join(", ")} })`
    : `fetch(${url}, {\n${options.map((option) => `  ${option},\n`).join("")}})`;
}

function requestsCall({ method, path, isPublic, headers, body, isUpload }: Request): string {
  const options = [
    ...headers.map(([name, value]) => `headers={"${name}": "${value}"}`),
    ...(isUpload ? [`files={"upload[file]": ("${FILE.name}", ${JSON.stringify(FILE.text)}, "text/csv")}`] : []),
    ...(body === undefined ? [] : [`json=${literal(body, "    ", PYTHON, "    ")}`]),
  ];
  const start = `${isPublic ? "requests" : "session"}.${method.toLowerCase()}(`;
  const url = `${path.includes("{") ? "f" : ""}"${BASE_URL}${path}"`;
  return options.length === 0
    ? `${start}${url})`
    : `${start}\n${[url, ...options].map((option) => `    ${option},\n`).join("")})`;
}

/** How a language writes a sample, paragraph by paragraph. */
interface Writer {
  readonly comment: string;
  /** The first paragraphs, by what the calls need. */
  readonly begin: (needs: Readonly<Record<"key" | "file" | "wait", boolean>>) => readonly (string | false)[];
  readonly call: (request: Request) => string;
  /** Keeps the ID of what a call created. */
  readonly keepId: (call: string, variable: string, idAt: readonly (string | number)[]) => string;
  /** Waits until an upload has ended. */
  readonly wait: (call: string) => string;
  readonly print: (call: string, isJson: boolean) => string;
}

const WRITERS: Readonly<Record<Language, Writer>> = {
  bash: {
    comment: "#",
    begin: ({ file }) => [file && `printf '${FILE.text.replaceAll("\n", String.raw`\n`)}' > ${FILE.name}`],
    call: curl,
    keepId: (call, variable) =>
      `${variable}=$(${call.replace("curl", "curl -sS")} |\n  grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`,
    wait: (call) =>
      `while ${call.replace("curl", "curl -sS")} |\n  grep -qE '"status":"(pending|processing)"'; do sleep 1; done`,
    print: (call) => call,
  },
  ts: {
    comment: "//",
    begin: ({ key, file }) => [
      key && "const headers = { Authorization: `Bearer ${process.env.API_KEY}` };",
      file &&
        `const form = new FormData();
const csv = new Blob([${JSON.stringify(FILE.text)}]);
form.append("upload[file]", csv, "${FILE.name}");`,
    ],
    call: (request) => `await ${fetchCall(request)}`,
    keepId: (call, variable, idAt) => `const ${variable} = ${call}
  .then((made) => made.json())
  .then(({ data }) => data${idAt.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")});`,
    wait: (call) => `const isOpen = async () => {
  const job = ${call};
  return ["pending", "processing"].includes((await job.json()).data.status);
};
while (await isOpen()) await new Promise((resolve) => setTimeout(resolve, 1000));`,
    print: (call, isJson) =>
      `const response = ${call};\nconsole.log(response.status, await response.${isJson ? "json" : "text"}());`,
  },
  python: {
    comment: "#",
    begin: ({ key, wait }) => [
      `import ${[key && "os", "requests", wait && "time"].filter(Boolean).join(", ")}`,
      key && `session = requests.Session()\nsession.headers["Authorization"] = "Bearer " + os.environ["API_KEY"]`,
    ],
    call: requestsCall,
    keepId: (call, variable, idAt) =>
      `${variable} = ${call}.json()["data"]${idAt.map((key) => `[${JSON.stringify(key)}]`).join("")}`,
    wait: (call) => `while ${call}.json()["data"]["status"] in ("pending", "processing"):\n    time.sleep(1)`,
    print: (call, isJson) => `response = ${call}\nprint(response.status_code, response.${isJson ? "json()" : "text"})`,
  },
};

function operationNamed(name: string): Operation {
  return operations.find((operation) => operation.name === name)!;
}

/** The code of a call in each language, after the calls that create what it needs. */
export function samplesOf(operation: Operation): (readonly [Language, string])[] {
  const needed = PREPARATIONS.filter(({ path }) => `${operation.path}/`.startsWith(`${path}/`));
  const made = new Set<string>(needed.map(({ variable }) => variable));
  const making = needed.map(({ operation: name, body }) => requestOf(operationNamed(name), made, body));
  const own = requestOf(operation, made);
  const needs = {
    key: [...making, own].some(({ isPublic }) => !isPublic),
    file: [...making, own].some(({ isUpload }) => isUpload),
    wait: AFTER_THE_END.test(operation.path),
  };
  return Object.entries(WRITERS).map(([language, { comment, begin, call, keepId, wait, print }]) => {
    const paragraphs = [
      making.length > 0 && `${comment} Creates something for the last call. If you have an ID, use that.`,
      ...begin(needs),
      ...needed.map(({ variable, idAt }, index) => keepId(call(making[index]!), variable, idAt)),
      needs.wait && wait(call(requestOf(operationNamed("get-work-item-upload"), made))),
      print(call(own), own.isJson),
    ];
    return [language as Language, paragraphs.filter(Boolean).join("\n\n")];
  });
}
