import type { Environment } from "../aws/environment.ts";
import type { Step } from "./chain.ts";
import { corsHeaders } from "./cors.ts";

/**
 * Completes every response: on which headers of the request it depends, and the pages that may read it. A response to
 * HEAD has no body.
 */
export function responseHeaders({ environment }: { readonly environment: Environment<object> }): Step {
  const { ALLOWED_ORIGINS: origins } = environment;
  const vary = ["Accept", "Accept-Encoding", ...(origins.length > 0 ? ["Origin"] : [])].join(", ");
  const complete: Step["after"] = ({ event, response }) => {
    if (!response) return;
    const { origin } = event.progress.headers;
    response.headers = { ...response.headers, vary, ...corsHeaders(origins, origin) };
    if (event.httpMethod === "HEAD") response.body = "";
  };
  return { after: complete, onError: complete };
}
