import { describe, expect, it } from "vitest";
import { logTime, readIncidents, toUploadCsv } from "../../../infra/commands/incident-log.ts";
import { workItemInputSchema } from "../../../lib/work-items/work-item.ts";

const log = [
  "number,incident_state,sys_mod_count,sys_updated_by,sys_updated_at,category,assigned_to,location,resolved_at,closed_at",
  'INC1,New,0,Updated by 21,29-02-2016 01:23,Category 55,?,"Hall ""A"", north",29-02-2016 11:29,?',
  'INC1,Resolved,2,Updated by 6,29-02-2016 08:53,Category 55,Resolver 9,"Hall ""A"", north",29-02-2016 11:29,?',
  "INC2,Awaiting Vendor,0,?,?,?,?,?,?,?",
].join("\n");

describe("incident log", () => {
  it("reads one work item an incident and one event a row, in the contract's form", () => {
    const incidents = readIncidents(log);
    expect(incidents).toEqual([
      {
        external_id: "INC1",
        status: "completed",
        type: "Category 55",
        agent_name: "Resolver 9",
        agent_external_id: "Resolver 9",
        completed_at: "2016-02-29T11:29:00Z",
        custom_attributes: { location: 'Hall "A", north' },
        events: [
          {
            external_id: "INC1-0",
            actor_external_id: "Updated by 21",
            content: "New",
            occurred_at: "2016-02-29T01:23:00Z",
          },
          {
            external_id: "INC1-2",
            actor_external_id: "Updated by 6",
            content: "Resolved",
            occurred_at: "2016-02-29T08:53:00Z",
          },
        ],
      },
      {
        external_id: "INC2",
        status: "in_progress",
        custom_attributes: {},
        events: [{ external_id: "INC2-0", content: "Awaiting Vendor" }],
      },
    ]);
    for (const incident of incidents) expect(workItemInputSchema.safeParse(incident).success).toBe(true);
  });
  it("takes a question mark as unknown time", () => expect(logTime("?")).toBeUndefined());
  it("writes the same incidents as an upload file with quoted cells", () => {
    expect(toUploadCsv(readIncidents(log)).split("\n")).toEqual([
      "external_id,agent_name,agent_external_id,type,status,completed_at,custom_attributes.location",
      'INC1,Resolver 9,Resolver 9,Category 55,completed,2016-02-29T11:29:00Z,"Hall ""A"", north"',
      "INC2,,,,in_progress,,",
      "",
    ]);
  });
});
