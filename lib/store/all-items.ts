import type { Attributes } from "../aws/attribute-values.ts";

/** The items on all pages of a query or scan. */
export async function allItems(
  pages: AsyncIterable<{ readonly Items?: Attributes[] | undefined }>,
): Promise<Attributes[]> {
  return (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
}
