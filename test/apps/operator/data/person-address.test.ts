import { describe, expect, it } from "vitest";
import { cpuMillisecondsOf } from "../../../support/cpu-time.ts";
import { PersonAddress } from "../../../../apps/operator/data/person-address.ts";

const key = { pk: "ITEM#acme#00000000-0000-8000-8000-000000000000", sk: "#ITEM" };
const layersWith = (fields: object): string => JSON.stringify({ layers: [["job", 1, fields]] });
/** What is found of a person in a text, as content and within what an undo would put back. */
const isFound = (address: string, text: string): boolean[] => {
  const person = new PersonAddress(address);
  return [
    person.mentionsIn({ ...key, content: text }).length > 0,
    person.mentionsIn({ ...key, custom_attributes: JSON.stringify({ note: `1\n${text}` }) }).length > 0,
    person.isPersonOf({ ...key, undo: layersWith({ "custom_attributes.note": [`1\n${text}`] }) }),
  ];
};

describe("the address of a person", () => {
  it.each([
    ["ann@x.com", "ann@x.com"],
    ["ANN@x.com", "mail Ann@X.com, please"],
    ["ann@x.com", "(ann@x.com)."],
    ["ann@x.com", "<mailto:ann@x.com>"],
    ["ann@x.com", "from 'ann@x.com'"],
    ["ann@x.com", "email=ann@x.com&b=1"],
    ["ann@x.com", "/people/ann@x.com/"],
    ["ann@x.com", "bob@x.com;ann@x.com"],
    ["ann@x.com", "https://x.com/?to=ann%40x.com&n=1"],
    ["an+n@x.com", "https://x.com/?to=an%2Bn%40x.com"],
    ["jörg@x.com", "https://x.com/j%C3%B6rg%40x.com"],
    ["ann@x.com", "ann@x.com.csv"],
    ["ann@x.com", "ann@x.com-1"],
    ["ann@x.com", `{"to":["ann@x.com"]}`],
    ["a/b@x.com", "see a/b@x.com"],
    ["o'neil@x.com", "see o'neil@x.com"],
    ["jörg@müller.de", "an jörg@müller.de."],
  ])("%s is found in %j", (address, text) => {
    expect(isFound(address, text)).toEqual([true, true, true]);
  });

  it.each([
    ["b@x.com", "ab@x.com"],
    ["b@x.co", "ab@x.com"],
    ["b@x.co", "b@x.com"],
    ["b@x.com", "b@x.com.au"],
    ["b@x.com", "b@x.comb"],
    ["b@x.com", "b@x.com1"],
    ["b@x.com", "a.b@x.com a+b@x.com a-b@x.com a_b@x.com o'b@x.com"],
    ["x@x.com", "b@x@y.com"],
    ["b@x.com", "öb@x.com"],
    ["b@x.com", "https://x.com/?to=ab%40x.com"],
  ])("%s isn't found in %j", (address, text) => {
    expect(isFound(address, text)).toEqual([false, false, false]);
  });

  it("is compared as a whole where a field is an address", () => {
    const person = new PersonAddress("b@x.com");
    for (const email of ["a/b@x.com", "ab@x.com", "b@x.comb"]) {
      expect(person.isPersonOf({ ...key, agent_email: email })).toBe(false);
      expect(person.isPersonOf({ ...key, undo: layersWith({ agent_email: [email] }) })).toBe(false);
      expect(person.mentionsIn({ ...key, agent_email: email })).toEqual([]);
    }
    for (const email of ["b@x.com", "B@X.com"]) {
      expect(person.isPersonOf({ ...key, agent_email: email })).toBe(true);
      expect(person.isPersonOf({ ...key, sk: "EVENT#1", undo: layersWith({ actor_email: [email] }) })).toBe(true);
    }
  });

  it("is found in names of custom attributes too", () => {
    const person = new PersonAddress("b@x.com");
    expect(person.mentionsIn({ ...key, custom_attributes: '{"b@x.com":1}' })).toHaveLength(1);
    expect(person.isPersonOf({ ...key, undo: layersWith({ "custom_attributes.b@x.com": null }) })).toBe(true);
  });

  it("is looked for in megabytes of text within a moment", async () => {
    const person = new PersonAddress("b@x.com");
    const looked = await cpuMillisecondsOf(() => {
      for (const part of ["a", "@", "a.", "a@a", "'", "/", "a@a.a-", "{"]) {
        expect(person.isHeldBy({ content: part.repeat(300_000 / part.length) + "@" })).toBe(false);
      }
    });
    expect(looked).toBeLessThan(5000);
  });
});
