/**
 * A header or a status as it is compared with known words: in lower case, without accents, with single spaces between
 * words. `Assignee E-Mail`, `assignee_email` and `assigneeEmail` are the same, and so are `Ticket #` and `ticket number`.
 */
export function plainWords(text: string): string {
  return text
    .replaceAll("#", " number ")
    .replaceAll(/\bn°/gi, " numero ")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .replaceAll(/\be mail\b/g, "email")
    .trim();
}
