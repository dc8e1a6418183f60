import { LocalStackError } from "./local-stack-error.ts";
import { type LocalStack, startLocalStack } from "./local-stack.ts";

/** What `npm start` runs. */
const portOf = (text: string): number => {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LocalStackError(`PORT is ${text}: it must be a number from 0 to 65535`);
};

const introduce = ({ baseUrl, apiKey, dataDirectory }: LocalStack): void => {
  const request =
    `curl ${baseUrl}/v1/work_items/batch -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' ` +
    `-d '{"work_items":[{"external_id":"first"}]}'`;
  console.log(`
  Work items   ${baseUrl}
  API key      ${apiKey}
  Data         ${dataDirectory} (functions.log, env)

  ${request}
`);
};

const start = async (): Promise<void> => {
  const stack = await startLocalStack({
    port: portOf(process.env["PORT"] ?? "3000"),
    dataDirectory: process.env["DATA_DIR"] ?? ".local",
    dynamodbEndpoint: process.env["DYNAMODB_ENDPOINT"],
    verbose: process.env["LOG"] === "1",
  });
  let stopping = false;
  const stop = async (status: number): Promise<void> => {
    // Whoever asks twice does not want to wait for the requests in flight.
    if (stopping) process.exit(1);
    stopping = true;
    await stack.stop();
    process.exit(status);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0));
  void stack.failed.then((error) => {
    if (stopping) return;
    console.error(error.message);
    void stop(1);
  });
  introduce(stack);
  console.log("ready");
};

try {
  await start();
} catch (error) {
  console.error(error instanceof LocalStackError ? `Cannot start: ${error.message}` : error);
  process.exit(1);
}
