// What stands below the board: how to make it happen, what to do, why to believe it, and the witness as a list.

import { isFold, type Finding, type ReplayRun, type Result } from "./data";
import { h, HIDDEN, plural, visible } from "./dom";
import { sentence, siteShort } from "./words";

export function below(finding: Finding, result: Result): HTMLElement {
  const program = result.program?.length ? result.program.map(quoted).join(" ") : "PROGRAM";
  const command = `reweave replay ${quoted(result.trace.path)} ${finding.fingerprint.slice(0, 8)} -- ${program}`;
  return h("div", { class: "below" },
    h("section", null, h("h2", null, "Make it happen"), copyable(command), outputs(finding)),
    h("section", null, finding.view?.next ? [h("h2", null, "What to do"), h("p", null, capital(finding.view.next))] : null, origins(finding),
      h("h2", null, "Why believe it"), h("p", null, why(finding, result))),
    asText(finding));
}

const capital = (text: string): string => `${visible(text.charAt(0).toUpperCase() + text.slice(1))}.`;
/** A word as a shell takes it, and nothing in it that a terminal or a browser obeys. */
function quoted(word: string): string {
  if (/^[\w./:=@%+-]+$/.test(word)) return word;
  const plain = word.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const bytes = (text: string): string => [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const spelled = plain.replace(HIDDEN, bytes);
  return spelled === word ? `'${word}'` : `$'${spelled}'`;
}

function copyable(command: string): HTMLElement {
  const button = h("button", { class: "copy", type: "button", click: () => {
    void navigator.clipboard?.writeText(command).then(() => { button.textContent = "Copied"; }, () => undefined);
  } }, "Copy");
  return h("div", { class: "cmd" }, h("code", null, command), button);
}

/** What the program did in each order, with the lines that only one of them has marked. */
function outputs(finding: Finding): HTMLElement | null {
  const runs = finding.replays ?? [];
  if (runs.length === 0) return h("p", { class: "plain" }, "It has not been replayed; with --confirm, reweave predict does that and compares the output.");
  const words: Record<string, string> = { crash: "crashes", assertion: "fails its assertion", hang: "hangs", difference: "differs from the recorded run", none: "no visible harm" };
  const first = (run: ReplayRun): string => finding.view?.threads[finding.view.roles[run.order === "ab" ? 0 : 1]?.thread ?? -1]?.name ?? "";
  return h("div", { class: runs.length > 1 ? "pair" : "" }, runs.map((run) => {
    const others = new Set(runs.filter((other) => other !== run).flatMap((other) => other.output.split("\n")));
    if (run.output === "") return h("figure", null, h("figcaption", null, `${run.outcome}, ${visible(run.ended)}: ${words[run.harm] ?? run.harm}; it wrote nothing`));
    const lines = run.output.split("\n").map((line) => h("span", { class: runs.length > 1 && !others.has(line) ? "diff" : null }, `${visible(line)}\n`));
    return h("figure", null, h("figcaption", null, runs.length > 1 ? `${visible(first(run))} first: ` : "", `${run.outcome}, ${visible(run.ended)}: ${words[run.harm] ?? run.harm}`), h("pre", null, lines));
  }));
}

function origins(finding: Finding): (HTMLElement | null)[] {
  const view = finding.view;
  const known = (finding.origins ?? []).map((origin) =>
    `${origin.what === "thread" ? "Thread " : ""}${origin.name} was ${origin.what === "thread" ? "created" : "allocated"} by ${origin.by} at ${origin.stack[0] ?? "?"}`);
  const threads = (view?.threads ?? []).filter((thread) => thread.involved && thread.created).map((thread) =>
    `Thread ${thread.name} was created by ${thread.created?.by ?? ""}${at(siteShort(view?.sites[thread.created?.site ?? -1]))} (event ${thread.created?.event ?? ""})`);
  return (known.length > 0 ? known : threads).map((text) => h("p", { class: "plain" }, visible(text), "."));
}

const at = (site: string): string => (site === "" ? "" : ` at ${site}`);

function why(finding: Finding, result: Result): string {
  if (!finding.witness) return "A separate checker ran its schedule step by step when it was found. The JSON has that schedule; this page has room for no more.";
  const length = (finding.witness_prefix ?? 0) + (finding.witness as (number | number[])[]).reduce<number>((sum, run) => sum + (Array.isArray(run) ? (run[1] ?? 0) - (run[0] ?? 0) + 1 : 1), 0);
  return `The witness is a schedule of ${plural(length, "recorded event")}. A separate checker ran it step by step in the model ${finding.model ?? result.model}: every event in it can come where it stands.`;
}

function asText(finding: Finding): HTMLElement | null {
  const view = finding.view;
  if (!view?.board) return null;
  return h("section", { class: "astext" }, h("details", null, h("summary", null, "The witness as a list"),
    h("ol", null, view.board.witness.map((row) => (isFold(row)
      ? h("li", null, `${plural(row.folded, "event")} that do not matter`)
      : h("li", { class: row.bug ? "key" : null }, `event ${row.event}: ${sentence(view, row)}${at(siteShort(row.site === undefined ? undefined : view.sites[row.site]))}`))))));
}
