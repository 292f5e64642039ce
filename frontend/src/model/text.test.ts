import { describe, expect, it } from "vitest";
import { codeLines, copied, firstSentence, lineNumbers, spans } from "./text";

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

  it("shows nothing of an example as the reader's to remove", () => {
    expect(codeLines(code, "example")).toEqual([
      { text: "for x in ds:", change: "kept" },
      { text: "    # before: f(x)", change: "before" },
      { text: "    f(tf.constant(x))", change: "added" },
    ]);
  });

  it("copies the new lines that stand together, without signs and indentation", () => {
    expect(copied(code)).toEqual({ text: "f(tf.constant(x))", whole: false });
    expect(copied("+     a\n+       b").text).toBe("a\n  b");
    expect(copied("+ a\n- b\n+ c")).toEqual({ text: "a\nc", whole: false });
  });

  it("copies the whole example where its new lines stand apart", () => {
    expect(copied("+ saved = now()\n  for x in ds:\n-     save()\n+     save_later()")).toEqual({
      text: "saved = now()\nfor x in ds:\n    save_later()",
      whole: true,
    });
  });

  it("copies code without signs as it is", () => {
    expect(copied("pip install x")).toEqual({ text: "pip install x", whole: false });
    expect(copied("pip install x\npip install y").text).toBe("pip install x\npip install y");
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

describe("line numbers", () => {
  const code = ["  a", "- b", "+ B", "  c", "  ...", "- z", "+ Z"].join("\n");

  it("count the lines of the file as it is, piece by piece", () => {
    const numbers = lineNumbers(codeLines(code), [7, 20]);
    expect(numbers).toEqual(["7", "8", "", "9", "", "20", ""]);
  });

  it("are none where no start is known", () => {
    expect(lineNumbers(codeLines(code), [])).toEqual([]);
  });
});
