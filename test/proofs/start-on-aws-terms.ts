import { startLocalService } from "../../infra/local/service.ts";
import { createAwsTerms } from "../support/aws-terms/aws-terms.ts";

/**
 * The service as a process, with requests to its engines that are throttled, conflict, lag and fail as on AWS. Its
 * variables are DATA_DIR and AWS_TERMS_SEED. It runs until it is killed or told to stop.
 */
const { DATA_DIR: dataDirectory = "", AWS_TERMS_SEED: seed } = process.env;
const terms = createAwsTerms({ seed: Number(seed) });
const service = await startLocalService({ port: 0, dataDirectory, inFrontOf: terms.inFrontOf });
process.once("SIGTERM", () => {
  void service
    .stop()
    .then(() => terms.stop())
    .then(() => process.exit(0));
});
service.terminal.print("ready\n");
