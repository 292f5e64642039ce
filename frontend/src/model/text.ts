/** Sentences of the report as runs of words and code. */

export interface Span {
  readonly text: string;
  readonly code: boolean;
}

/** Splits at backticks: what stands between two of them is code; a lone backtick stays text. */
export function spans(sentence: string): Span[] {
  const parts = sentence.split("`");
  if (parts.length % 2 === 0) {
    const last = parts.pop() as string;
    parts.push(`${parts.pop() as string}\`${last}`);
  }
  return parts
    .map((text, index) => ({ text, code: index % 2 === 1 }))
    .filter((span) => span.text !== "");
}

/** The first sentence of an advice, which says what to do, and the rest, which says why. */
export function firstSentence(text: string): readonly [string, string] {
  const match = /^(.{1,140}?[.!?:])\s+(?=\S)/.exec(text);
  return match === null ? [text, ""] : [match[1] as string, text.slice(match[0].length)];
}

export interface CodeLine {
  readonly text: string;
  readonly change: "added" | "removed" | "kept";
}

/** The lines of an advice: "+" new, "-" to be removed, anything else context. */
export function codeLines(code: string): CodeLine[] {
  const lines = code.replace(/\n+$/, "").split("\n");
  const signs = lines.some((line) => /^[+-]/.test(line));
  return lines.map((text) => ({
    text: !signs ? text : /^[+\- ]/.test(text) ? text : ` ${text}`,
    change: text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "kept",
  }));
}

/** What Copy takes: the lines that stay or are new, without signs and common indentation. */
export function copied(code: string): string {
  const lines = codeLines(code);
  const signs = lines.some((line) => line.change !== "kept");
  const kept = lines
    .filter((line) => line.change !== "removed")
    .map((line) => (signs ? line.text.slice(1) : line.text));
  const indents = kept.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const common = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  return kept.map((line) => line.slice(common === Number.MAX_SAFE_INTEGER ? 0 : common)).join("\n");
}
