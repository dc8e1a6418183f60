/** What the built-in functions are given that go through texts: their own text, the one they search or the one they make. */
type Method = (this: unknown, ...given: unknown[]) => unknown;

const lengthOf = (value: unknown): number => (typeof value === "string" ? value.length : 0);
const ofSelf = (self: unknown): number => lengthOf(self);
const ofFirst = (_self: unknown, [first]: readonly unknown[]): number => lengthOf(first);
const ofResult = (_self: unknown, _given: readonly unknown[], result: unknown): number => lengthOf(result);

const COUNTED: readonly [
  object: object,
  names: readonly string[],
  count: (self: unknown, given: readonly unknown[], result: unknown) => number,
][] = [
  [String.prototype, ["trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "normalize"], ofSelf],
  [String.prototype, ["includes", "indexOf", "match", "matchAll", "replace", "replaceAll", "split"], ofSelf],
  [String.prototype, ["isWellFormed", "localeCompare"], ofSelf],
  [Array.prototype, ["join"], ofResult],
  [RegExp.prototype, ["exec", "test"], ofFirst],
  [Map.prototype, ["get", "has"], ofFirst],
  [Set.prototype, ["has"], ofFirst],
  [JSON, ["parse"], ofFirst],
  [JSON, ["stringify"], ofResult],
];

/**
 * The characters that some work goes through by JavaScript's own functions. Nothing in the code under test counts: code
 * that is written later is counted too.
 */
export function charactersReadBy(work: () => void): number {
  let characters = 0;
  const restore: (() => void)[] = [];
  for (const [object, names, count] of COUNTED) {
    for (const name of names) {
      const original = (object as Record<string, Method>)[name]!;
      const counted: Method = function (...given) {
        const result = original.apply(this, given);
        characters += count(this, given, result);
        return result;
      };
      const descriptor = Object.getOwnPropertyDescriptor(object, name)!;
      Object.defineProperty(object, name, { ...descriptor, value: counted });
      restore.push(() => Object.defineProperty(object, name, descriptor));
    }
  }
  try {
    work();
  } finally {
    for (const each of restore) each();
  }
  return characters;
}
