/** An organization as its API key finds it. */
export interface Organization {
  /** Lower-case letters, digits and dashes, 1 to 64 of them. Part of every partition key. */
  readonly id: string;
  /** Requests a second. @default 100 */
  readonly rate: number;
  /** Requests at once. @default 200 */
  readonly burst: number;
  /** Shards of the listing index; only ever grows. Reads cover all, writers use the current number. @default 8 */
  readonly listingShards: number;
  /** Key of the HMAC over this organization's cursors. */
  readonly cursorSecret: string;
}
