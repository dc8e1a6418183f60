/**
 * What programs that tests start get of this process's environment: where programs are, and where compiled code is kept,
 * which is the directory of `npm start` unless the suite has one of its own.
 */
export const childEnvironment = (): Record<string, string> => {
  const { PATH = "", NODE_COMPILE_CACHE = "node_modules/.cache/node" } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
};
