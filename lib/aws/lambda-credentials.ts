/**
 * Replaces `@aws-sdk/credential-provider-node` in the functions' bundles (`infra/build.ts`). Lambda provides a role's
 * credentials in environment variables (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html). The
 * SDK's other sources are for people's machines.
 * @public
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
