/** A response of the feed. */
export interface FeedResponse {
  readonly status: number;
  readonly text: string;
}

interface ReceivedChange {
  readonly id: string;
  readonly sequence: number;
  readonly deleted_at: string | null;
  readonly erased?: true;
}
interface ReceivedPage {
  readonly data: readonly ReceivedChange[];
  readonly meta: { readonly page: { readonly next: string; readonly more: boolean } };
}

/** What the organization was at some time. */
export interface Life {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Changes when the organization is made again; empty while it is erased. */
  readonly secret: string;
  /** How many gaps were put into its log. */
  readonly gaps: number;
}

const KEPT_MS = 29 * 24 * 3_600_000;

/** A reader that keeps a copy of an organization's items by its feed, as a client should. */
export function createCopy(query: Readonly<Record<string, string | number>>, from?: string) {
  let cursor = from;
  let items = new Map<string, string>();
  /** What the organization was when this last knew that it had everything. */
  let known: Life | undefined;
  let isAtEnd = false;
  let starts = 0;
  const wrong: string[] = [];

  const begin = (): void => {
    [cursor, items, isAtEnd, known] = [undefined, new Map(), false, undefined];
    starts += 1;
  };
  return {
    wrong,
    items: (): ReadonlyMap<string, string> => items,
    isAtEnd: (): boolean => isAtEnd,
    starts: (): number => starts,
    query: () => ({ ...query, ...(cursor !== undefined && { after: cursor }) }),
    begin,
    /**
     * Applies a response.
     * @param before what the organization was before the request; `after`: before the response
     * @param crash how many of its records are applied before the reader is killed; undefined if it
     * is not: only then it keeps the cursor
     */
    receive: (
      asked: string | undefined,
      { status, text }: FeedResponse,
      { before, after }: { readonly before: Life; readonly after: Life },
      crash?: number,
    ): void => {
      isAtEnd = false;
      // A response to a reader that has started again in the meantime.
      if (asked !== cursor) return;
      if (status === 410) {
        const isSame = known?.secret === after.secret && after.secret !== "" && known.gaps === after.gaps;
        if (known !== undefined && isSame && after.at - known.at < KEPT_MS) wrong.push(`410 too early: ${asked}`);
        begin();
      } else if (status === 422) {
        // A cursor of the list is signed with the organization's secret.
        if (known?.secret === after.secret && after.secret !== "" && /^\d+$/.test(String(asked)))
          wrong.push(`422 to ${asked}: ${text}`);
        begin();
      } else if (status === 200) {
        const { data, meta } = JSON.parse(text) as ReceivedPage;
        if (meta.page.more && (meta.page.next === asked || data.length === 0))
          wrong.push(`a page that does not move: ${asked}`);
        const sequences = data.map(({ sequence }) => sequence);
        if (sequences.some((one, index) => one < (sequences[index - 1] ?? 0)))
          wrong.push(`not in order: ${sequences.join()}`);
        // A first load that was killed in its first page left some items.
        if (asked === undefined) items.clear();
        for (const { sequence: _, deleted_at: deletedAt, ...record } of data.slice(0, crash)) {
          if (deletedAt === null) items.set(record.id, JSON.stringify(record));
          else items.delete(record.id);
        }
        if (crash !== undefined) return;
        cursor = meta.page.next;
        isAtEnd = !meta.page.more;
        known ??= before;
        if (isAtEnd) known = before;
      }
    },
  };
}
/** A reader that keeps a copy. */
export type Copy = ReturnType<typeof createCopy>;
