const BOUNDARY = "edge";

/** A multipart upload: the file, then its other fields. Fields that aren't text are sent as JSON. */
export const multipart = (file: string | Buffer, fields: Readonly<Record<string, unknown>> = {}) => ({
  method: "POST",
  resource: "/v1/work_items/upload",
  body: Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="upload[file]"; filename="items.csv"\r\n\r\n`),
    Buffer.from(file as string),
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(
        `\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; name="upload[${name}]"\r\n\r\n${typeof value === "string" ? value : JSON.stringify(value)}`,
      ),
    ),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]),
  headers: { "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` },
});
