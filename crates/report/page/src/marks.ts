// The marks of events. Meaning never rests on colour alone.

import type { Board } from "./data";
import { isFold } from "./data";
import { h, svg } from "./dom";

export function mark(op: string, x: number, y: number, colour: string): SVGElement {
  const draw = (tag: string, how: string, attributes: Record<string, string | number>): SVGElement =>
    svg(tag, { class: `mark ${how}`, "--c": colour, ...attributes });
  switch (op) {
    case "r": case "ar": case "af": return draw("circle", "hollow", { cx: x, cy: y, r: 4 });
    case "w": case "aw": case "au": case "unseen": return draw("circle", "full", { cx: x, cy: y, r: 4.4 });
    case "acq": case "tryacq": case "racq": return draw("path", "line", { d: `M${x - 5} ${y + 4}V${y - 3}H${x + 5}V${y + 4}` });
    case "rel": case "rrel": return draw("path", "line", { d: `M${x - 5} ${y - 4}V${y + 3}H${x + 5}V${y - 4}` });
    case "free": return draw("path", "line", { d: `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x + 4} ${y - 4}L${x - 4} ${y + 4}` });
    case "alloc": return draw("path", "line", { d: `M${x - 4.5} ${y}H${x + 4.5}M${x} ${y - 4.5}V${y + 4.5}` });
    case "wait": case "busy": return draw("rect", "hollow", { x: x - 3.6, y: y - 3.6, width: 7.2, height: 7.2 });
    case "notify": case "notifyall": return draw("rect", "full", { x: x - 3.6, y: y - 3.6, width: 7.2, height: 7.2 });
    case "fork": case "join": return draw("path", op === "fork" ? "full" : "hollow", { d: `M${x} ${y - 4.4}L${x + 4.4} ${y}L${x} ${y + 4.4}L${x - 4.4} ${y}Z` });
    default: return draw("circle", "full", { cx: x, cy: y, r: 2 });
  }
}

const LEGEND: [string, string[], string][] = [
  ["r", ["r", "ar", "af"], "read"], ["w", ["w", "aw", "au", "unseen"], "write"], ["acq", ["acq", "tryacq", "racq"], "lock"],
  ["rel", ["rel", "rrel"], "unlock"], ["fork", ["fork"], "start"], ["join", ["join"], "join"], ["alloc", ["alloc"], "allocate"],
  ["free", ["free"], "free"], ["wait", ["wait"], "woken"], ["notify", ["notify", "notifyall"], "notify"],
];

/** The marks that occur, with their meaning. */
export function legend(board: Board, both = true): HTMLElement {
  const ops = new Set([...(both ? board.observed : []), ...board.witness].flatMap((row) => (isFold(row) ? [] : [row.op])));
  const one = (drawing: SVGElement, text: string): HTMLElement => h("span", null, svg("svg", { width: 18, height: 16, "aria-hidden": "true" }, drawing), text);
  const marks = LEGEND.filter(([, all]) => all.some((op) => ops.has(op))).map(([op, , text]) => one(mark(op, 9, 8, "var(--faint)"), text));
  if (ops.has("acq") || ops.has("racq") || ops.has("tryacq")) {
    marks.push(one(svg("rect", { class: "bar", x: 5, y: 1, width: 8, height: 14, rx: 2, "--c": "var(--faint)" }), "holds a lock"));
  }
  if (both) marks.push(h("span", null, svg("svg", { width: 26, height: 16, "aria-hidden": "true" }, svg("path", { class: "weft key", d: "M1 4C12 4 12 12 25 12" })), "the bug's events in both orders"));
  return h("div", { class: "legend" }, marks);
}
