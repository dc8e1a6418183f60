/**
 * What a fault must never cause.
 * `lost`: an acknowledged write is not there, or a job does not end;
 * `duplicated`: a write has taken effect twice;
 * `wrong label`: a response says something else than what was done;
 * `undone`: an acknowledged write was there, and is not any more.
 */
export type FindingKind = "lost" | "duplicated" | "wrong label" | "undone";

/** A finding and what led to it. */
export interface Finding {
  readonly kind: FindingKind;
  readonly seed: number;
  readonly details: string;
}

/** The line that ends a run. */
export const summaryOf = (faults: number, seeds: number, findings: readonly Finding[]): string => {
  const count = (kind: FindingKind): number => findings.filter((finding) => finding.kind === kind).length;
  const kinds = (["lost", "duplicated", "wrong label", "undone"] as const).map((kind) => `${kind} ${count(kind)}`);
  return [`faults ${faults}`, `seeds ${seeds}`, ...kinds].join(", ");
};
