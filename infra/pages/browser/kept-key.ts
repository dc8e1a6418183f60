/** Where a key is kept in the tab's session storage, if the person wants that. */
export const KEPT_KEY = "work-items-key";
