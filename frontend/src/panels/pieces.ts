/** Small pieces that several panels are made of. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { CodeKind } from "../api/wire/report";
import { told } from "../charts/term_title";
import { codeLines, copied, lineNumbers } from "../model/text";

/** A sentence of the report; what stands between backticks is code. */
export const prose = told;

const MARKS = { added: "a", removed: "d", before: "c", kept: "c" } as const;

/** Code with its new lines marked, and a button that copies what can be pasted. */
export function codeBox(
  title: string,
  code: string,
  kind: CodeKind = "patch",
  starts: readonly number[] = [],
  open?: string,
): TemplateResult {
  const { text, whole } = copied(code);
  const lines = codeLines(code, kind);
  const numbers = lineNumbers(lines, starts);
  const label = whole ? "Copy example" : "Copy";
  return html`<div class="code">
    <header><span>${prose(title)}</span>${open ? html`<a class="btn sm" href=${open}>Open in editor</a>` : nothing}<button class="sm" @click=${(event: Event) => copy(event, text)}>${label}</button></header>
    <pre tabindex="0" aria-label=${title.replaceAll("`", "")}>${lines.map(
      (line, index) =>
        html`<span class=${MARKS[line.change]} data-n=${numbers[index] ?? nothing}>${line.text || " "}</span>`,
    )}</pre>
  </div>`;
}

const COPIED_MILLISECONDS = 1500;

/** Copies text and says so on the button for a moment. */
export async function copy(event: Event, text: string): Promise<void> {
  const button = event.currentTarget as HTMLButtonElement;
  const label = button.textContent;
  const done = await written(text);
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  setTimeout(() => {
    button.textContent = label;
  }, COPIED_MILLISECONDS);
}

/** Frames of a notebook may not use the clipboard: then the text is left selected. */
async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "vh";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
