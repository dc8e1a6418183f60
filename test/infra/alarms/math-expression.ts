/** The value of a metric in one period; undefined if there is no data. */
export type Value = number | undefined;
type Values = (id: string) => Value;

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([-+*/>(),]))/y;

const tokensOf = (expression: string): string[] => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const match = TOKEN.exec(expression);
    if (match === null) throw new Error(`not an expression of an alarm: ${expression}`);
    tokens.push(match[0].trim());
  }
  return tokens;
};

type Operator = (left: number, right: number) => number;
/** Operators in the order in which they bind, the loosest first. */
const OPERATORS: readonly Readonly<Record<string, Operator>>[] = [
  { ">": (left, right) => Number(left > right) },
  { "+": (left, right) => left + right, "-": (left, right) => left - right },
  { "*": (left, right) => left * right, "/": (left, right) => left / right },
];

const FUNCTIONS: Readonly<Record<string, (...values: readonly Value[]) => Value>> = {
  FILL: (value, filling) => value ?? filling,
  IF: (condition, yes, no) => (condition === undefined ? undefined : condition !== 0 ? yes : no),
};

/**
 * Evaluates a metric math expression in one period, as far as the stack's alarms use the language. What depends on a
 * metric without data has no value itself.
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html)
 * @throws Error for an expression of another kind
 */
export const evaluateExpression = (expression: string, values: Values): Value => {
  const tokens = tokensOf(expression);
  const take = (expected?: string): string => {
    const token = tokens.shift();
    if (token === undefined || (expected !== undefined && token !== expected)) {
      throw new Error(`${expected ?? "a value"} is missing in ${expression}`);
    }
    return token;
  };
  const term = (): Value => {
    const token = take();
    if (token === "(") {
      const inner = binary(0);
      take(")");
      return inner;
    }
    if (/^\d/.test(token)) return Number(token);
    if (tokens.at(0) !== "(") return values(token);
    const called = FUNCTIONS[token];
    if (called === undefined) throw new Error(`${token} is not a function that the alarms use`);
    const given: Value[] = [];
    do {
      take();
      given.push(binary(0));
    } while (tokens.at(0) === ",");
    take(")");
    return called(...given);
  };
  const binary = (level: number): Value => {
    const operators = OPERATORS[level];
    if (operators === undefined) return term();
    let left = binary(level + 1);
    for (let operator = operators[tokens[0] ?? ""]; operator !== undefined; operator = operators[tokens[0] ?? ""]) {
      take();
      const right = binary(level + 1);
      left = left === undefined || right === undefined ? undefined : operator(left, right);
    }
    return left;
  };
  const result = binary(0);
  if (tokens.length > 0) throw new Error(`${tokens[0]} is not expected in ${expression}`);
  return result;
};
