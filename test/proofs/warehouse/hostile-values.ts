/** Custom attributes that tools may round, drop or reject, as JSON text without spaces between its tokens. */
const HOSTILE_ATTRIBUTES: Readonly<Record<string, string>> = {
  "long numbers": String.raw`{"whole":123456789012345678901234567890,"decimal":-0.1234567890123456789012345}`,
  "numbers beyond 64 bits": String.raw`{"a":9223372036854775808,"b":18446744073709551616,"c":[-9223372036854775809]}`,
  "zeros at the end": String.raw`{"price":1.10,"whole":1.0,"list":[0.00,-0,100]}`,
  exponents: String.raw`{"a":1e5,"b":1E+05,"c":1.50e-7,"d":1.7976931348623157e308,"e":4.9e-324}`,
  "numbers in texts": String.raw`{"a":"1.10","b":"\"1.10","c":"12345678901234567890","d":":1.10,","e":"\\u00001.10"}`,
  "half a pair": String.raw`{"high":"emoji \ud83d","low":"\ude00 end","two":"\ud83d\ud83d","escaped":"\\ud83d","both":"\\\ud83d"}`,
  "half a pair as a key": String.raw`{"\ud83d":1,"\ud83e":2,"nested":{"\udc00":[{"\udc00":null}]}}`,
  "half a pair in texts of the item": String.raw`{"short_description":"half \ud83d","description":"\udc00"}`,
  "whole pairs": `{"😀":"👩‍👩‍👧‍👦","last":"${String.fromCodePoint(0x10_ff_ff)}"}`,
  separators: `{"\u2028":"\u2029\u0085","\u00A0":"\uFEFF\u200B","\u{FFFF}":"\u007F"}`,
  controls: String.raw`{"a\tb":"\r\n\t\b\f\u0001\u001f","end":"\u001a"}`,
  quotes: String.raw`{"'":"''\"","\\":"\\\\","$$":"$1 \\1 %s {0} {{ x }}","--":"; DROP TABLE work_items; /*"}`,
  "delimiters of the recipes": String.raw`{"a":{"b":{},"short_description":"x","custom_attributes":{"c":1.10}},"t":"\"custom_attributes\":{},\"short_description\":"}`,
  "names that programs know": String.raw`{"":"empty","constructor":1.10,"toString":null,"hasOwnProperty":false,"prototype":{},"id":"x","deleted_at":"2026-01-01"}`,
  "empty values": String.raw`{"":{"":{"":[]}},"null":null,"text":"","list":[[],{}]}`,
  words: String.raw`{"a":"NaN","b":"Infinity","c":"null","d":"true","e":"NULL","f":"\\N","g":"2026-01-31T09:30:00Z"}`,
  nesting: `{"a":${"[".repeat(30)}1.10${"]".repeat(30)}}`,
  "a long text": `{"a":"${"x".repeat(200_000)}"}`,
};

/** An item with hostile custom attributes. */
export interface HostileItem {
  readonly externalId: string;
  readonly type: string;
  readonly attributes: string;
}

/** Every item with what the service accepts and tools may not. Its external ID and type have texts of that kind, too. */
export const HOSTILE_ITEMS: readonly HostileItem[] = Object.entries(HOSTILE_ATTRIBUTES).map(([name, attributes]) => ({
  externalId: `${name} ' " \\ \u2028 \u0085 é😀 \u001F`,
  type: `${name}\n\t, ; | $$ 'NULL' --`,
  attributes,
}));

/** What the service refuses, so that recipes needn't know it. */
export const REFUSED_ATTRIBUTES: readonly string[] = [
  String.raw`{"a":"\u0000"}`,
  String.raw`{"\u0000":1}`,
  String.raw`{"a":{"__proto__":1}}`,
  String.raw`{"a":1e400}`,
];

/** JSON text as a copy has it: half a surrogate pair is U+FFFD, and all else is as it was sent. */
export function asCopied(attributes: string): string {
  return attributes.replaceAll(/\\(?:(ud[89a-f]..)|.)/g, (escape, half) => (half === undefined ? escape : "\uFFFD"));
}
