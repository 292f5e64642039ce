/** A term of the ledger with its badge, and a sentence about it. */

import { html, type TemplateResult } from "lit-html";
import { causeKind, HEALTHY } from "../catalog/causes";
import { spans } from "../model/text";
import { badge } from "./badge";

export const termTitle = (term: string): TemplateResult =>
  html`${badge(term)} ${term === HEALTHY ? "Healthy" : causeKind(term).name}`;

/** What stands between backticks is code. */
export const told = (sentence: string): TemplateResult =>
  html`${spans(sentence).map((span) => (span.code ? html`<code>${span.text}</code>` : span.text))}`;
