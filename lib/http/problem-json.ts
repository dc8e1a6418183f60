/** The media type of RFC 9457. */
export const PROBLEM_JSON = "application/problem+json";

/** Whether the caller accepts problem details: it names the type, with a weight above 0. */
export const acceptsProblemJson = (accept: string | undefined): boolean =>
  (accept ?? "").split(",").some((entry) => {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return type === PROBLEM_JSON && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
