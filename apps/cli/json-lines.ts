const LINE_FEED = 0x0a;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(line: Buffer): string | undefined {
  try {
    return utf8.decode(line);
  } catch {
    return undefined;
  }
}

/** The bytes between line feeds. */
async function* bytesOfLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let started: Buffer[] = [];
  for await (const chunk of input) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...started, bytes.subarray(from, end)]);
      started = [];
      from = end + 1;
    }
    if (from < bytes.length) started.push(bytes.subarray(from));
  }
  if (started.length > 0) yield Buffer.concat(started);
}

/**
 * The lines of a file of JSON, without a byte order mark. Only a line feed ends a line: JSON strings may contain
 * U+2028, U+2029 and U+0085, and a carriage return is white space.
 * @param input bytes or texts
 * @yields undefined for a line that isn't UTF-8
 */
export async function* jsonLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<string | undefined> {
  let isFirst = true;
  for await (const bytes of bytesOfLines(input)) {
    const text = textOf(bytes);
    yield isFirst ? text?.replace(/^\uFEFF/, "") : text;
    isFirst = false;
  }
}
