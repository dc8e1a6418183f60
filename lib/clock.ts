/** Returns the current time in milliseconds since the epoch. Injected, so that tests can control it. */
export type Clock = () => number;

/** ISO 8601 in UTC with milliseconds, the only form in which times are stored, compared and sent in responses. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
