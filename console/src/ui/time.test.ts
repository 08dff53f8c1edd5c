import { describe, expect, it } from "vitest";
import { absolute, instantOf, relative } from "./time";

const now = Date.parse("2026-03-09T12:00:00Z");

describe("relative", () => {
  it.each([
    ["2026-03-09T12:00:00Z", "now"],
    ["2026-03-09T11:59:55.001Z", "now"],
    ["2026-03-09T11:59:55Z", "5 s ago"],
    ["2026-03-09T11:59:00.001Z", "59 s ago"],
    ["2026-03-09T11:59:00Z", "1 min ago"],
    ["2026-03-09T11:00:00Z", "1 h ago"],
    ["2026-03-07T12:00:01Z", "47 h ago"],
    ["2026-03-07T12:00:00Z", "2 d ago"],
    ["2026-03-09T12:00:59Z", "now"],
    ["2026-03-09T14:00:00Z", "in 2 h"],
  ])("reads %s as %j", (at, expected) => {
    expect(relative(Date.parse(at), now)).toBe(expected);
  });
});

describe("absolute", () => {
  it("sorts as it reads, in the zone it is given", () => {
    expect(absolute(Date.parse("2026-01-02T03:04:05Z"), "UTC")).toBe("2026-01-02 03:04:05");
    expect(absolute(Date.parse("2026-01-02T23:04:05Z"), "Asia/Shanghai")).toBe("2026-01-03 07:04:05");
    expect(absolute(Date.parse("2026-01-02T00:00:00Z"), "UTC")).toBe("2026-01-02 00:00:00");
  });
});

describe("instantOf", () => {
  it("is undefined for what names no instant", () => {
    expect(instantOf("2026-03-09T12:00:00Z")).toBe(now);
    expect(instantOf("soon")).toBeUndefined();
    expect(instantOf(undefined)).toBeUndefined();
  });
});
