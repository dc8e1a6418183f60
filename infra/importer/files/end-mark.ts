/** What ends files of DOS, and what some programs still write. */
const END_MARK = "\u001A";

/** Where the end marks at the end of a text begin, which line ends may follow; -1 if there is none. */
export function endMarkIn(text: string): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === END_MARK || text[end - 1]!.trim() === "")) end--;
  return text.indexOf(END_MARK, end);
}

/** Leaves out the end mark of a text that comes in pieces, and what follows it. Elsewhere the character stays. */
export function withoutEndMark(): TransformStream<string, string> {
  let held = "";
  return new TransformStream({
    transform: (piece, controller) => {
      const text = held + piece;
      const at = endMarkIn(text);
      held = at === -1 ? "" : text.slice(at);
      controller.enqueue(at === -1 ? text : text.slice(0, at));
    },
  });
}
