/** Sentences of the report as runs of words and code. */

import type { CodeKind } from "../api/wire/report";

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
  readonly change: "added" | "removed" | "before" | "kept";
}

const CHANGES = { "+": "added", "-": "removed", " ": "kept" } as const;

/** The lines of code by their signs: "+" new, "-" to be removed, anything else context. */
function signed(code: string): readonly (readonly ["+" | "-" | " ", string])[] {
  const lines = code.replace(/\n+$/, "").split("\n");
  const signs = lines.some((line) => /^[+-]/.test(line));
  return lines.map((line) => {
    if (!signs) return [" ", line];
    const sign = line.charAt(0);
    if (sign === "+" || sign === "-") return [sign, line.slice(1)];
    return [" ", sign === " " ? line.slice(1) : line];
  });
}

/**
 * The lines as they are shown.
 *
 * Of an example nothing is the reader's to remove: what its lines replace is a comment, without
 * a sign.
 */
export function codeLines(code: string, kind: CodeKind = "patch"): CodeLine[] {
  const lines = signed(code);
  const signs = lines.some(([sign]) => sign !== " ");
  return lines.map(([sign, line]) => {
    if (kind === "patch") return { text: signs ? sign + line : line, change: CHANGES[sign] };
    const text = signs ? line.slice(1) : line;
    if (sign !== "-") return { text, change: CHANGES[sign] };
    return { text: text.replace(/^(\s*)/, "$1# before: "), change: "before" };
  });
}

/** The number of each line in the file as it is, "" for new ones; none where no start is known. */
export function lineNumbers(lines: readonly CodeLine[], starts: readonly number[]): string[] {
  let piece = 0;
  let next = starts[0] ?? 0;
  return lines.flatMap(({ text, change }) => {
    if (starts.length === 0) return [];
    if (text.trim() !== "..." || piece + 1 >= starts.length) {
      return [change === "added" ? "" : String(next++)];
    }
    next = starts[++piece] as number;
    return [""];
  });
}

export interface Copied {
  readonly text: string;
  /** Whether that is all of the example: its new lines stand in several places. */
  readonly whole: boolean;
}

/**
 * What Copy takes, without signs and common indentation.
 *
 * The new lines, where they stand together: they can be pasted. Else the program that they and
 * the lines between them make.
 */
export function copied(code: string): Copied {
  const stays = signed(code).filter(([sign]) => sign !== "-");
  const news = stays.flatMap(([sign], index) => (sign === "+" ? [index] : []));
  const [first = 0, last = stays.length - 1] = [news[0], news.at(-1)];
  const whole = last - first + 1 !== news.length;
  const lines = (whole ? stays : stays.slice(first, last + 1)).map(([, line]) => line);
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const common = Math.min(...indents, Number.MAX_SAFE_INTEGER);
  const text = lines.map((line) => line.slice(common === Number.MAX_SAFE_INTEGER ? 0 : common));
  return { text: text.join("\n"), whole: whole && news.length > 0 };
}
