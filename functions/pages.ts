/** The web pages and their assets. One function serves them all, because they are files. */
export const pages = {
  /** Also the file name of the Lambda in `functions/`. */
  name: "get-page",
  summary: "Responds with pages for people: documentation and the import page",
  method: "GET",
  public: true,
  bodyKind: "none",
  permissions: {},
  /** API Gateway resource paths. */
  paths: ["/", "/docs", "/docs/{guide}", "/docs/{guide}/{rest+}", "/upload", "/llms.txt", "/assets/{asset}"],
} as const;
