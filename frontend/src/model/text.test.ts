import { describe, expect, it } from "vitest";
import { codeLines, copied, firstSentence, spans } from "./text";

describe("spans", () => {
  it("tells code from words", () => {
    expect(spans("Argument `rate` of `f`.")).toEqual([
      { text: "Argument ", code: false },
      { text: "rate", code: true },
      { text: " of ", code: false },
      { text: "f", code: true },
      { text: ".", code: false },
    ]);
  });

  it("keeps a lone backtick and any markup as text", () => {
    expect(spans("a ` <b>")).toEqual([{ text: "a ` <b>", code: false }]);
    expect(spans("`x` and `<i>")).toEqual([
      { text: "x", code: true },
      { text: " and `<i>", code: false },
    ]);
  });
});

describe("code of an advice", () => {
  const code = "  for x in ds:\n-     f(x)\n+     f(tf.constant(x))\n";

  it("marks lines by their sign", () => {
    expect(codeLines(code).map((line) => line.change)).toEqual(["kept", "removed", "added"]);
  });

  it("copies what is to stay, without signs", () => {
    expect(copied(code)).toBe("for x in ds:\n    f(tf.constant(x))");
  });

  it("copies code without signs as it is", () => {
    expect(copied("pip install x")).toBe("pip install x");
  });

  it("takes the common indentation off", () => {
    expect(copied("+     a\n+       b")).toBe("a\n  b");
  });
});

describe("firstSentence", () => {
  it("parts what to do from why", () => {
    expect(firstSentence("Pass a tensor. One graph serves all.")).toEqual([
      "Pass a tensor.",
      "One graph serves all.",
    ]);
  });

  it("does not break file names and numbers", () => {
    expect(firstSentence("At train.py:41, take 0.5 of it")[0]).toBe(
      "At train.py:41, take 0.5 of it",
    );
  });
});
