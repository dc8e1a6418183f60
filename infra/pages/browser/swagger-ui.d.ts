/** The part of Swagger UI that the reference uses; the package has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** Shows a document. */
  const show: (options: Readonly<Record<string, unknown>>) => void;
  export default show;
}
