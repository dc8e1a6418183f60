import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

const content = document.querySelector<HTMLElement>("#content")!;
const root = new URL(content.dataset["root"] ?? "./", location.href);

/** The reference follows the browser's choice of dark or light by a class. */
const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = (): void => void document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

const show = async (): Promise<void> => {
  const response = await fetch(new URL("v1/openapi.json", root));
  if (!response.ok) throw new Error(`The document could not be loaded (${response.status}).`);
  const spec = (await response.json()) as object;
  // Calls go to where this page came from, whatever stands before the service.
  const servers = [{ url: root.href.replace(/\/$/, "") }];
  SwaggerUI({
    spec: { ...spec, servers },
    dom_id: "#reference",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
};

show().catch((error: unknown) => {
  const place = document.querySelector("#reference")!;
  place.textContent = `${error instanceof Error ? error.message : "The reference could not be shown."} Reload the page to try again.`;
});
