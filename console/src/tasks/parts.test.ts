import { describe, expect, it } from "vitest";
import { decodeBase64, firstText, formatBytes, httpHref, viewParts } from "./parts";

describe("viewParts", () => {
  it("reads neighbouring text as one, as streams cut it", () => {
    expect(viewParts([{ text: "a" }, { text: "b" }, { data: 1 }, { text: "c" }])).toEqual([
      { kind: "text", text: "ab", label: "" },
      { kind: "data", json: "1", label: "" },
      { kind: "text", text: "c", label: "" },
    ]);
  });

  it("keeps texts of different files apart", () => {
    const views = viewParts([
      { text: "a", filename: "a.txt" },
      { text: "b", filename: "b.txt", mediaType: "text/plain" },
    ]);
    expect(views.map((view) => view.label)).toEqual(["a.txt", "b.txt · text/plain"]);
  });

  it("prints data with indentation, null included", () => {
    expect(viewParts([{ data: { a: [1] } }])[0]).toMatchObject({ json: '{\n  "a": [\n    1\n  ]\n}' });
    expect(viewParts([{ data: null }])[0]).toMatchObject({ kind: "data", json: "null" });
  });

  it("counts the bytes of a file without decoding it", () => {
    for (const text of ["", "a", "ab", "abc", "abcd"]) {
      expect(viewParts([{ raw: btoa(text) }])[0]).toMatchObject({ kind: "file", bytes: text.length });
    }
  });

  it("gives a file a name without a path or characters that deceive", () => {
    const name = (filename: string) => viewParts([{ raw: "", filename }])[0];
    expect(name("../../etc/passwd")).toMatchObject({ filename: "passwd" });
    expect(name("C:\\x\\report.txt")).toMatchObject({ filename: "report.txt" });
    expect(name("fdp\u202e.exe")).toMatchObject({ filename: "fdp_.exe" });
    expect(name("")).toMatchObject({ filename: "part.bin" });
  });

  it("says so when a part holds nothing", () => {
    expect(viewParts([{ mediaType: "text/plain" }])).toEqual([{ kind: "empty", label: "text/plain" }]);
    expect(viewParts(undefined)).toEqual([]);
  });
});

describe("httpHref", () => {
  it.each([
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//host/x",
    "x",
  ])("does not follow %j", (url) => expect(httpHref(url)).toBeUndefined());

  it("follows http and https", () => {
    expect(httpHref("https://example.com/a b")).toBe("https://example.com/a%20b");
    expect(httpHref("HTTP://example.com")).toBe("http://example.com/");
  });
});

describe("firstText", () => {
  it("is one line, cut at the end", () => {
    expect(firstText({ messageId: "m", parts: [{ text: " a\n b" }, { data: 1 }, { text: "c" }] })).toBe(
      "a b c",
    );
    expect(firstText({ messageId: "m", parts: [{ text: "abcdef" }] }, 4)).toBe("abc…");
    expect(firstText(undefined)).toBe("");
  });
});

describe("decodeBase64", () => {
  it("takes both alphabets", () => {
    expect([...decodeBase64("+/8=")]).toEqual([251, 255]);
    expect([...decodeBase64("-_8")]).toEqual([251, 255]);
  });
});

describe("formatBytes", () => {
  it("has one unit for each size", () => {
    expect([0, 999, 1000, 999_949, 999_950].map(formatBytes)).toEqual([
      "0 B",
      "999 B",
      "1.0 kB",
      "999.9 kB",
      "1.0 MB",
    ]);
  });
});
