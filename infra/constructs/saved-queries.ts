import { Stack } from "aws-cdk-lib";
import { CfnQueryDefinition, type ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { sumOf, toRowCounters } from "../../lib/uploads/job/counters.ts";

/** Names of a job's counters in its line `upload ended`. */
const ROW_COUNTERS = Object.keys(toRowCounters(sumOf([])));

/**
 * Queries of the functions' logs, by name, for CloudWatch Logs Insights. They read the lines `request`
 * (`lib/http/middleware.ts`), `upload ended` (`lib/uploads/chain/finish.ts`) and those about waiting changes
 * (`lib/changes`). Metrics would cost something for each organization; a query costs by what it reads.
 */
export const SAVED_QUERIES = {
  "requests by organization and key": [
    'filter message = "request" and ispresent(organization)',
    "stats count(*) as requests, sum(request_bytes) as bytes_in, sum(response_bytes) as bytes_out, pct(duration_ms, 99) as p99_ms by organization, key",
    "sort requests desc",
    "limit 100",
  ],
  "errors by organization and key": [
    'filter message = "request" and status >= 400',
    "stats count(*) as errors by organization, key, route, status",
    "sort errors desc",
    "limit 100",
  ],
  "rows and bytes of uploads": [
    'filter message = "upload ended"',
    "stats count(*) as jobs, sum(rows) as all_rows, sum(bytes) as all_bytes by organization, key, status",
    "sort all_rows desc",
    "limit 100",
  ],
  "one upload": [
    'filter job = "<ID of the job>" or request_id = "<ID of the request>"',
    "sort @timestamp",
    `display @timestamp, message, organization, status, shard, rows, ${ROW_COUNTERS.join(", ")}, job, request_id`,
  ],
  "jobs under way": [
    "filter ispresent(job)",
    'fields strcontains(message, "upload ended") as is_end',
    "stats min(@timestamp) as began, latest(message) as step, latest(reason) as waits_for, max(@timestamp) as last, sum(is_end) as ended by job",
    "filter ended = 0",
    "sort began",
    "limit 100",
  ],
  "errors by function": [
    'filter level = "ERROR" or record.status in ["error", "timeout"]',
    "stats count(*) as times, latest(error.message) as reason, max(@timestamp) as last by @log, message, record.status",
    "sort times desc",
    "limit 100",
  ],
  "changes by a key or of an item": [
    'filter (ispresent(items) or ispresent(job)) and (key = "<ID of the key>" or items like "<ID of the item>")',
    "sort @timestamp",
    "display @timestamp, message, organization, key, route, status, items, job, request_id",
    "limit 10000",
  ],
  "changes that wait": [
    'filter message in ["changes are not in the queue yet", "changes are not in the log yet", "changes are given up for a gap"]',
    "stats count(*) as tries, latest(error.message) as reason, latest(@timestamp) as last by organization, message",
    "sort last desc",
    "limit 100",
  ],
  "slowest requests": [
    'filter message = "request"',
    "sort duration_ms desc",
    "limit 50",
    "display @timestamp, duration_ms, route, status, organization, key, request_id",
  ],
} as const satisfies Record<string, readonly string[]>;

/** Queries of the access log. */
export const ACCESS_QUERIES = {
  "refused keys by address": [
    'filter status = "401"',
    "stats count(*) as refused, latest(@timestamp) as last by ip, userAgent",
    "sort refused desc",
    "limit 100",
  ],
} as const satisfies Record<string, readonly string[]>;

export interface SavedQueriesProps {
  /** Logs of the functions. */
  readonly logGroups: readonly ILogGroup[];
  readonly accessLogs: ILogGroup;
}

/** The saved queries of one region. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { logGroups, accessLogs }: SavedQueriesProps) {
    super(scope, id);
    const queries = [
      ...Object.entries(SAVED_QUERIES).map(([name, commands]) => ({ name, commands, groups: logGroups })),
      ...Object.entries(ACCESS_QUERIES).map(([name, commands]) => ({ name, commands, groups: [accessLogs] })),
    ];
    for (const { name, commands, groups } of queries) {
      new CfnQueryDefinition(
        this,
        name.replaceAll(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase()),
        {
          // Each stack has its own folder.
          name: `${Stack.of(this).stackName}/${name}`,
          queryString: commands.join("\n| "),
          logGroupNames: groups.map(({ logGroupName }) => logGroupName),
        },
      );
    }
  }
}
