import { describe, expect, test } from "vitest";
import { encodingOf, firstRows } from "../../../infra/pages/browser/upload/read-text.ts";
import { formatsOf, valuesIn } from "../../../infra/pages/browser/upload/sources.ts";

describe("the upload page", () => {
  test.each([
    ["UTF-8", Buffer.from("name\nZoë"), "utf-8"],
    ["UTF-8 that is cut in a character", Buffer.from("name\nZoë").subarray(0, -1), "utf-8"],
    ["Windows-1252", Buffer.from("name\nZoë\n", "latin1"), "windows-1252"],
    ["UTF-16 with its mark", Buffer.from("\uFEFFname", "utf16le"), "utf-16le"],
    ["UTF-16 without one", Buffer.from("number,state\n".repeat(10), "utf16le"), "utf-16le"],
    ["big-endian UTF-16 without one", Buffer.from("number,state\n".repeat(10), "utf16le").swap16(), "utf-16be"],
  ])("finds the encoding of %s", (_, bytes, encoding) => {
    expect(encodingOf(bytes)).toBe(encoding);
  });

  test("reads rows whose cells have line ends and delimiters, and no row that is cut", () => {
    const text = 'a;b\r\n"one\ntwo";"x;""y"""\r\n\r\n3;4\r\n5;cu';
    const whole = [["a", "b"], ["one\ntwo", 'x;"y"'], [""], ["3", "4"]];
    expect(firstRows(text, ";", 100, false)).toEqual(whole);
    expect(firstRows(text, ";", 100, true)).toEqual([...whole, ["5", "cu"]]);
    expect(firstRows(text, ";", 2, true)).toEqual(whole.slice(0, 2));
  });

  test("offers the different values of a column", () => {
    const rows = [["Open"], ["?"], ["Open "], [""], ["Closed"], []];
    expect(valuesIn({ names: ["Status"], rows }, "status", ["?"])).toEqual(["Open", "Closed"]);
  });

  test.each([
    [["01/06/2023 10:00", "25/06/2023 10:00"], ["dd/MM/yyyy HH:mm"]],
    [["01/06/2023 10:00"], ["dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"]],
    [["06/25/2023 10:00", "someday"], ["MM/dd/yyyy HH:mm"]],
    [["1700000000"], ["unix"]],
    [["someday"], []],
    [[], []],
  ])("offers for %j the date patterns %j", (values, formats) => {
    expect(formatsOf(values, "UTC")).toEqual(formats);
  });
});
