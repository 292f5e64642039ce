/** A term of the ledger with its badge, and a sentence about it. */

import { html, type TemplateResult } from "lit-html";
import { causeKind, HEALTHY } from "../catalog/causes";
import { spans } from "../model/text";
import { badge } from "./badge";

export const termTitle = (term: string): TemplateResult =>
  html`${badge(term)} ${term === HEALTHY ? "Healthy" : causeKind(term).name}`;

/** What stands between backticks is code. */
export const told = (sentence: string): TemplateResult =>
  html`${spans(sentence).map((span) =>
    span.code ? html`<code>${breakable(span.text)}</code>` : span.text,
  )}`;

/** A long name may go on in the next line after each of its parts. */
const breakable = (code: string): unknown =>
  code.length > LONG ? code.split(/(?<=[./])/).map((part) => html`${part}<wbr>`) : code;

const LONG = 40;
