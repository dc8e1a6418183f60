const encoder = new TextEncoder();

/** What the service's own code, of which pages use a part, takes of Node's Buffer. */
export const Buffer = {
  byteLength: (text: string): number => encoder.encode(text).length,
};
