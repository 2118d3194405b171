// An answer that is no finding: why something is impossible, what an exploration came to, whether a fix is enough.

import { lane, panel, unfold, type Opened } from "./board";
import type { Answer, Arrow, Circle, Picture, Stop } from "./data";
import { h, name, place, svg, visible } from "./dom";
import { legend, mark } from "./marks";

const HEIGHT = 44;
const TOP = 40;
const GUTTER = 190;

const KINDS: Record<string, string> = {
  refutation: "Why it is impossible", query: "Question", exploration: "Exploration", verification: "Is the fix enough?",
};

export const answerWords = (answer: Answer): string => KINDS[answer.kind] ?? answer.kind;

/** Draws an answer into the page; what has to be done when its width changes. */
export function showAnswer(into: HTMLElement, answer: Answer): () => void {
  const stage = h("div", { class: "circle" });
  const boards = (answer.pictures ?? []).map((one) => ({ one, box: h("div", { class: "stage" }), opened: new Map<number, number>() }));
  const draw = (): void => {
    if (answer.circle) stage.replaceChildren(picture(answer.circle, Math.min(stage.clientWidth || 700, 900)));
    for (const { one, box, opened } of boards) order(one, box, opened);
  };
  into.replaceChildren(
    h("header", { class: "head" }, h("a", { class: "back", href: "#" }, "‹ List"), h("p", { class: "facts" }, answerWords(answer)),
      h("h1", { class: `verdict ${answer.tone}` }, h("span", { "aria-hidden": "true" }, SIGNS[answer.tone]), " ", visible(answer.title)),
      h("p", { class: "lead" }, visible(answer.summary))),
    answer.circle ? h("div", { class: "round" }, stage, reasons(answer.circle)) : "",
    answer.reasons?.length ? h("ol", { class: "reasons" }, answer.reasons.map((reason) => h("li", null, visible(reason)))) : "",
    boards.length > 0 ? h("div", { class: boards.length > 1 ? "orders two" : "orders" }, boards.map(({ one, box }) => h("figure", { class: `order ${one.tone}` }, h("h2", null, visible(one.title)), h("figcaption", null, visible(one.caption)), box,
      one.view.board ? legend(one.view.board, false) : ""))) : "",
    answer.compared?.length ? comparison(answer) : "",
    ...(answer.listings ?? []).map((listing) => h("section", { class: "listing" }, h("h2", null, visible(listing.title)), h("pre", null, lines(listing.text)))),
    h("dl", { class: "about-answer" }, answer.facts.map((fact) => h("div", null, h("dt", null, visible(fact.term)), h("dd", null, lines(fact.text))))));
  draw();
  return draw;
}

/** One order of events, to look at. */
function order(one: Picture, box: HTMLElement, opened: Opened): void {
  const board = one.view.board;
  if (!board) return;
  const open = (at: number): void => {
    unfold(board.witness, opened, at);
    order(one, box, opened);
    box.querySelectorAll<HTMLElement>(".rows > li:not(.inner)")[at]?.querySelector<HTMLElement>(".hit")?.focus({ preventScroll: true });
  };
  box.replaceChildren(panel(one.view, board, true, box.clientWidth || 360, opened, null, open).element);
}

const SIGNS: Record<Answer["tone"], string> = { good: "✓", bad: "✗", open: "?" };
const lines = (text: string): string => text.split("\n").map(visible).join("\n");

function comparison(answer: Answer): HTMLElement {
  const cell = (label: string, text: string): HTMLElement => h("td", { "data-label": label }, lines(text));
  return h("table", { class: "compared", "aria-label": "Before the fix and after it" },
    h("thead", null, h("tr", null, h("th", null, "What"), h("th", null, "Before the fix"), h("th", null, "After it"))),
    h("tbody", null, (answer.compared ?? []).map((row) => h("tr", { class: row.tone },
      h("th", { scope: "row" }, visible(row.title)), cell("Before", row.before),
      h("td", { "data-label": "After" }, h("span", { class: `sign ${row.tone}`, role: "img", "aria-label": row.tone === "bad" ? "still a bug" : row.tone === "good" ? "gone" : "open" }, SIGNS[row.tone]), " ", lines(row.after))))));
}

/** The steps of the circle in words, in its order. */
function reasons(circle: Circle): HTMLElement {
  const first = circle.steps[0];
  return h("div", { class: "chain" },
    h("ol", null, circle.steps.map((step) => h("li", { class: step.asked ? "asked" : null },
      h("span", { class: "mono" }, `${step.from} → ${step.to}`), " ", visible(step.reason)))),
    first ? h("p", { class: "wrong" }, `So event ${first.from} would have to come before itself.`) : null);
}

/** Events down the page as they were observed, a column for each thread, and an arrow for each “must come before”. */
function picture(circle: Circle, width: number): HTMLElement {
  const left = 34;
  const room = Math.max(120, width - left - GUTTER) / circle.threads.length;
  const x = (stop: Stop): number => left + stop.thread * room + 10;
  const rows = new Map(circle.events.map((stop, at) => [stop.event, { stop, y: TOP + at * HEIGHT + HEIGHT / 2 }]));
  const height = TOP + circle.events.length * HEIGHT;
  const ink = svg("svg", { class: "ink", width, height, "aria-hidden": "true" }, heads());
  circle.steps.forEach((step, at) => ink.append(...arrow(step, at)));
  for (const { stop, y } of rows.values()) ink.append(mark(stop.op, x(stop), y, lane(stop.thread)));
  const names = circle.threads.map((thread, at) => place(h("div", { class: "lane", "--c": lane(at) }, name(thread, "", 20)), { left: left + at * room, top: 6, width: room }));
  const labels = [...rows.values()].map(({ stop, y }) => place(h("li", { class: "stop" }, h("span", { class: "id" }, stop.event),
    place(h("span", { class: "label" }, name(stop.text), stop.site ? h("span", { class: "at" }, " ", name(stop.site, "", 40)) : null), { left: x(stop) + 14, "max-width": width - x(stop) - 20 })), { top: y - 12 }));
  return place(h("div", { class: "canvas" }, ink, names, h("ol", { class: "rows", "aria-label": "The events, as they were observed" }, labels)), { height, width });

  function heads(): SVGElement {
    const head = (id: string, className: string): SVGElement => svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      svg("path", { class: className, d: "M0 0L8 4L0 8Z" }));
    return svg("defs", null, head("to", "tip"), head("to-asked", "tip asked"));
  }

  /** What was observed in this order leads straight down; what would have to come earlier than it did swings out to the right. */
  function arrow(step: Arrow, at: number): SVGElement[] {
    const [from, to] = [rows.get(step.from), rows.get(step.to)];
    if (!from || !to) return [];
    const how = step.asked ? " asked" : "";
    const attributes = { class: `must${how}`, "marker-end": `url(#${step.asked ? "to-asked" : "to"})` };
    const number = (left: number, top: number): SVGElement => svg("text", { class: `step${how}`, x: left, y: top }, String(at + 1));
    const [x0, x1] = [x(from.stop), x(to.stop)];
    if (to.y > from.y) {
      const side = Math.sign(x1 - x0);
      const [top, bottom] = [from.y + 9, to.y - 9];
      return [svg("path", { ...attributes, d: side === 0 ? `M${x0} ${top}V${bottom}` : `M${x0} ${top}C${x0} ${bottom} ${x1} ${top} ${x1} ${bottom}` }),
        number((x0 + x1) / 2 + (side === 0 ? -15 : 6), (top + bottom) / 2 + (side === 0 ? 4 : -4))];
    }
    const right = width - GUTTER + 70 + (at % 6) * 24;
    return [svg("path", { ...attributes, d: `M${x0 + 6} ${from.y + 9}C${right} ${from.y + 14} ${right} ${to.y - 14} ${x1 + 7} ${to.y - 9}` }),
      number((x0 + x1 + 6 * right) / 8 + 7, (from.y + to.y) / 2 + 4)];
  }
}
