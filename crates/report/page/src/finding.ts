// One finding: its head, the board with the state beside it, and what is below.

import { crossing, hues, lane, panel, unfold, unfoldAll, type Panel } from "./board";
import { isFold, type Finding, type Item, type Result, type Row, type Step, type ThreadState, type View } from "./data";
import { clip, h, name, visible } from "./dom";
import { below } from "./below";
import { level } from "./list";
import { legend } from "./marks";
import type { State } from "./state";
import { kindWords, sentence, short, siteShort, value, verb } from "./words";

/** A finding on the page, which can be stepped through. */
export interface Shown { item: Item; steps: number; step: number; bug: number; go(step: number): void; play(): void; unfold(): void; resize(): void; stop(): void }

const GUTTER = 34;

function head(item: Item, result: Result): HTMLElement {
  const { finding } = item;
  const view = finding.view;
  const names = [...new Set(finding.target.split(", "))].map((text) => short(view?.targets.find((target) => target.name === text)) || text);
  const title = h("h1", null, `${kindWords(finding)} `, h("span", { class: "on" }, "on "), names.flatMap((text, at) => [at > 0 ? ", " : "", name(text)]));
  const fact = (className: string, ...text: (Node | string | null)[]): HTMLElement => h("span", { class: `fact ${className}` }, ...text);
  const replay: Record<string, string> = { confirmed: "✓ Confirmed on the program", diverged: "Replay diverged", hung: "Replay hung", finished: "Replay ended without it" };
  return h("header", { class: "head" }, h("a", { class: "back", href: "#" }, "‹ All findings"), title,
    h("p", { class: "lead" }, visible(view?.summary ?? "")),
    view?.wrong ? h("p", { class: "lead wrong" }, "What goes wrong: ", visible(view.wrong), ".") : null,
    h("p", { class: "facts" }, fact("strong", level(item), ` ${finding.severity?.level === "warning" ? "Warning" : "Error"}: ${visible(finding.severity?.reason ?? "")}`),
      finding.replay ? fact(finding.replay === "confirmed" ? "confirmed" : "", replay[finding.replay] ?? finding.replay) : null,
      fact("", `checked in the model ${finding.model ?? result.model}`), fact("mono", finding.fingerprint.slice(0, 8))));
}

/** Where it is, of a finding of which the page has no more. */
const sites = (finding: Finding): HTMLElement => h("ul", { class: "sites" }, finding.sites.map((site) => h("li", null, name(site, "mono", 120))));

/** Draws a finding into the page. */
export function show(into: HTMLElement, item: Item, result: Result, start: number | null, moved: (step: number) => void): Shown {
  const { finding } = item;
  const view = finding.view;
  const board = view?.board;
  if (!view || !board) {
    into.replaceChildren(head(item, result), h("p", { class: "none" }, "There is no picture of this finding: the page would be too large with all of them. ",
      h("code", null, "reweave report"), " shows it as text."), finding.view ? "" : sites(finding), below(finding, result));
    return { item, steps: 0, step: 0, bug: 0, go: () => undefined, play: () => undefined, unfold: () => undefined, resize: () => undefined, stop: () => undefined };
  }
  const shown: Shown & { timer: number | null } = {
    item, steps: board.witness.length, step: start ?? board.bug, bug: board.bug, timer: null, go, play, unfold: every, resize: draw, stop,
  };
  const stage = h("div", { class: "stage" });
  const side = h("div", { class: "side" });
  const caption = h("p", { class: "caption", "aria-live": "polite" });
  const slider = h("input", { type: "range", min: 0, max: shown.steps - 1, "aria-label": "Step of the witness", input: () => { stop(); go(Number(slider.value)); } });
  const button = (text: string, label: string, act: () => void): HTMLElement => h("button", { type: "button", title: label, "aria-label": label, click: act }, text);
  const run = button("▶", "Run (space)", play);
  const player = h("div", { class: "player" },
    h("div", { class: "buttons" }, button("⇤", "To the start (Home)", () => { stop(); go(0); }), button("‹", "Back (←)", () => { stop(); go(shown.step - 1); }), run,
      button("›", "On (→)", () => { stop(); go(shown.step + 1); }), button("⚑", "To the bug (b)", () => { stop(); go(shown.bug); })), slider, caption);
  const tabs = (["observed", "witness"] as const).map((which) =>
    h("button", { type: "button", role: "tab", "aria-selected": String(which === "witness"), "data-tab": which, click: () => { tab = which; draw(); } }, which === "observed" ? "Observed" : "Witness"));
  const left = h("div", { class: "left" }, h("div", { class: "tabs", role: "tablist" }, tabs), stage, legend(board));
  const keys = h("p", { class: "keys" }, [["←", "→", "step"], ["space", "run"], ["b", "bug"], ["e", "unfold"], ["j", "k", "finding"], ["/", "filter"]].map((key) => [key.slice(0, -1).map((one) => h("kbd", null, one)), `${key.at(-1)} `]));
  const grid = h("div", { class: "board" }, left, h("div", { class: "right" }, player, side, keys));
  into.replaceChildren(head(item, result), grid, below(finding, result));
  let tab: "observed" | "witness" = "witness";
  const opened = { observed: new Map<number, number>(), witness: new Map<number, number>() };
  let panels: Panel[] = [];
  let witness: Panel | undefined;

  function draw(): void {
    const width = left.clientWidth;
    const single = width < 560 || hues(view as View).size > 5;
    grid.classList.toggle("single", single);
    for (const button of tabs) button.setAttribute("aria-selected", String(button.dataset["tab"] === tab));
    const each = single ? width : Math.floor((width - GUTTER) / 2);
    const choose = (event: number): void => {
      const at = board?.witness.findIndex((row) => !isFold(row) && row.event === event) ?? -1;
      stop();
      if (at >= 0) go(at);
    };
    const one = (which: boolean): Panel => {
      const order = which ? "witness" : "observed";
      const open = (at: number): void => { unfold(board?.[order] ?? [], opened[order], at); draw(); focusFold(order, at); };
      return panel(view as View, board as NonNullable<typeof board>, which, each, opened[order], choose, open);
    };
    witness = one(true);
    const other = one(false);
    panels = single ? [tab === "witness" ? witness : other] : [other, witness];
    const cross = single ? null : h("div", { class: "gutter" }, crossing(other, witness, GUTTER));
    stage.replaceChildren(...(single ? panels.map((panel) => panel.element) : [other.element, cross as HTMLElement, witness.element]));
    go(shown.step);
  }

  function go(to: number): void {
    shown.step = Math.max(0, Math.min(shown.steps - 1, to));
    const row = board?.witness[shown.step];
    const current = row && !isFold(row) ? row.event : null;
    for (const panel of panels) panel.show(shown.step, current);
    const said = row ? describe(view as View, row) : "";
    const atBug = shown.step >= shown.bug;
    slider.value = String(shown.step);
    slider.style.setProperty("--p", `${(100 * shown.step) / Math.max(1, shown.steps - 1)}%`);
    slider.setAttribute("aria-valuetext", `step ${shown.step + 1} of ${shown.steps}: ${said}`);
    player.classList.toggle("bug", atBug);
    caption.replaceChildren(h("span", { class: "count" }, `${shown.step + 1}/${shown.steps}`), said, " ", atBug ? h("strong", null, visible(capital(board?.moment ?? ""))) : "");
    side.replaceChildren(...cards(view as View, witness?.states[shown.step], finding, row, atBug));
    moved(shown.step);
  }

  /** The keyboard stays where it was: the row that was chosen has been drawn anew. */
  function focusFold(order: "observed" | "witness", at: number): void {
    const panel = stage.querySelector(order === "witness" ? ".panel.witness" : ".panel:not(.witness)");
    panel?.querySelectorAll<HTMLElement>(".rows > li:not(.inner)")[at]?.querySelector<HTMLElement>(".hit")?.focus({ preventScroll: true });
  }

  function every(): void {
    unfoldAll((["observed", "witness"] as const).map((order) => [board?.[order] ?? [], opened[order]]));
    draw();
  }

  function play(): void {
    if (shown.timer !== null) return stop();
    if (shown.step >= shown.bug) go(0);
    run.textContent = "❚❚";
    shown.timer = window.setInterval(() => {
      go(shown.step + 1);
      if (shown.step >= shown.bug) stop();
    }, 700);
  }

  function stop(): void {
    if (shown.timer !== null) window.clearInterval(shown.timer);
    shown.timer = null;
    run.textContent = "▶";
  }

  draw();
  return shown;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const describe = (view: View, row: Row): string => (isFold(row) ? `${row.folded.toLocaleString("en")} events that do not matter` : sentence(view, row));

/** What each involved thread is about to do, and what the finding's variables hold. */
function cards(view: View, state: State | undefined, finding: Finding, row: Row | undefined, atBug: boolean): HTMLElement[] {
  const involved = hues(view);
  const done = row && !isFold(row) && row.bug && !row.pending ? row : null;
  const list = [...involved].map(([thread, hue]) =>
    card(view, thread, lane(hue), state?.threads.get(thread), finding, done?.thread === thread ? done : null, atBug));
  const values = [...(state?.values ?? [])].map(([target, now]) => {
    const writer = now.writer === undefined ? "initial" : `event ${now.writer}`;
    const text = now.freed ? "freed" : now.value === undefined ? "not known" : value(now.value);
    return h("tr", null, h("th", { scope: "row" }, name(short(view.targets[target]))), h("td", { class: now.freed ? "gone" : null }, text), h("td", { class: "by" }, writer));
  });
  if (values.length > 0) list.push(h("table", { class: "vals" }, h("caption", { class: "sr" }, "Values"), h("tbody", null, values)));
  return list;
}

function card(view: View, thread: number, colour: string, state: ThreadState | undefined, finding: Finding, done: Step | null, atBug: boolean): HTMLElement {
  const about = view.threads[thread];
  const next = done ?? state?.next;
  const site = next?.site === undefined ? undefined : view.sites[next.site];
  const blockers = (state?.blocked_by ?? []).map((by) => view.threads[by]?.name ?? "");
  const target = next?.target === undefined ? null : name(short(view.targets[next.target]));
  const status = !state && !done ? "its state is not known here" : !next ? "has no more events" : blockers.length > 0
    ? ["waits for ", target, `, held by ${blockers.map((by) => clip(visible(by), 20)).join(", ")}`] : [done ? "has just come to " : "next: ", `${verb(next.op)} `, target];
  const held = (state?.held ?? []).map((lock) => name(short(view.targets[lock]), "lock", 30));
  const hot = (atBug || done !== null) && next !== undefined && finding.events.includes(next.event);
  return h("section", { class: "card", "--c": colour },
    h("header", null, h("h3", null, name(about?.name ?? "", "", 24)), h("span", { class: blockers.length > 0 ? "status blocked" : "status" }, status)),
    h("p", { class: "holds" }, held.length > 0 ? ["holds ", held] : state ? "holds no lock" : "",
      h("span", { class: "fn" }, site?.function ? `${clip(visible(site.function), 30)} ` : "", siteShort(site))),
    source(view, site?.file, site?.line, hot));
}

function source(view: View, file: string | undefined, line: number | undefined, hot: boolean): HTMLElement | null {
  const excerpt = view.sources?.find((one) => one.file === file && line !== undefined && line >= one.first && line < one.first + one.lines.length);
  if (!excerpt || line === undefined) return null;
  const from = Math.max(excerpt.first, line - 2);
  const lines = excerpt.lines.slice(from - excerpt.first, line + 3 - excerpt.first);
  return h("div", { class: "src" }, lines.map((text, at) =>
    h("div", { class: from + at === line ? (hot ? "ln at hot" : "ln at") : "ln" }, h("i", null, from + at), h("code", null, visible(text.replaceAll("\t", "    "))))),
    excerpt.newer ? h("p", { class: "newer" }, "This file has changed since the recording.") : null);
}
