import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Stands for a DynamoDB that takes the writes of rows as fast as they are sent, as the embedded engine, which makes one
 * write after the other, does not. It responds to each BatchExecuteStatement after DynamoDB's time and counts its
 * statements. A process of its own, so that its CPU time is not the functions'.
 */

/** What the server sends to the process that started it. */
export type RowWritesMessage = { readonly port: number } | { readonly statements: number };

const [latencyMs = "0"] = process.argv.slice(2);
const STATEMENT = Buffer.from('"Statement":');

let statements = 0;
const countIn = (body: Buffer): number => {
  let count = 0;
  for (let at = body.indexOf(STATEMENT); at !== -1; at = body.indexOf(STATEMENT, at + STATEMENT.length)) count++;
  return count;
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const count = countIn(Buffer.concat(chunks));
    statements += count;
    const body = JSON.stringify({ Responses: Array.from({ length: count }, () => ({})) });
    setTimeout(() => response.setHeader("content-type", "application/x-amz-json-1.0").end(body), Number(latencyMs));
  });
}).listen(0, "127.0.0.1");
await once(server, "listening");
const send = (message: RowWritesMessage): void => void process.send?.(message);
send({ port: (server.address() as AddressInfo).port });
process.on("message", () => send({ statements }));
process.once("disconnect", () => process.exit());
