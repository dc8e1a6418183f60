/** The steps from a file to its import, and what each is for. */
export const STEPS = {
  File: "Choose a CSV file or an Excel workbook.",
  Match: "Choose what each column becomes.",
  Check: "See what would change. A trial saves nothing.",
  Import: "Save the rows as items. You can undo it later.",
} as const;

/** A step from a file to its import. */
export type StepName = keyof typeof STEPS;
/** The steps in their order. */
export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** The title of a step, with its number. */
export function titleOfStep(name: StepName, title: string = name): string {
  return `${STEP_NAMES.indexOf(name) + 1}. ${title}`;
}
