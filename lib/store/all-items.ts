import type { Attributes } from "../aws/attribute-values.ts";

/** The items on all pages of a query or scan. */
export const allItems = async (
  pages: AsyncIterable<{ readonly Items?: Attributes[] | undefined }>,
): Promise<Attributes[]> => (await Array.fromAsync(pages)).flatMap(({ Items = [] }) => Items);
