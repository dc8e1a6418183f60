/** Whether a header such as `Accept` or `Accept-Encoding` names a value, and not with the weight 0. */
export function accepts(header: string | undefined, value: string): boolean {
  return (header ?? "").split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return name === value && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
