import { type CsvFormat, formatOf } from "../file-format.ts";
import { type Mapping, mappingSchema } from "../mapping/mapping.ts";
import type { UploadJob } from "./upload-record.ts";

/** The mapping of a job's file; undefined if its columns are named after the fields. */
export function mappingOf({ mapping }: Pick<UploadJob, "mapping">): Mapping | undefined {
  return mapping === undefined ? undefined : mappingSchema.parse(JSON.parse(mapping));
}

/** How the rows of a job's file are read, once the splitter has read its header. */
export function formatOfJob(job: Pick<UploadJob, "header" | "mapping">): CsvFormat {
  return formatOf(job.header, mappingOf(job));
}
