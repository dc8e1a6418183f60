/**
 * Takes the place of `@aws-sdk/credential-provider-node` in the functions' bundles (`infra/build.ts`). Lambda gives a
 * function its role's credentials in environment variables
 * (https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html); the SDK's other sources, which are for
 * people's machines, are never reached there.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
