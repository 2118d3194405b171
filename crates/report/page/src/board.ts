// The board: both orders of the same events, and between them the crossing of the bug's own.

import { isFold, type Board, type Row, type Step, type View } from "./data";
import { clip, h, name, place, plural, svg, visible } from "./dom";
import { mark } from "./marks";
import { sections, states, type State } from "./state";
import { LOCKS, observed, sentence, tight, verb } from "./words";

const HEIGHT = 24;
export const lane = (hue: number): string => `var(--t${hue % 8})`;

interface Lane { x: number; left: number; width: number; hue: number; rail: boolean }
interface Geometry { lanes: Map<number, Lane>; compact: boolean; text: number; ids: number; width: number }
/** A row, and the events of a fold that are shown under it. */
interface Line { row: Row; at: number; y: number; height: number; inner: Step[] }

/** How many more events of a fold are shown at once. */
export const PAGE = 100;
/** Per row of an order that folds events: how many of them are shown. */
export type Opened = Map<number, number>;

/** Shows the next events of a fold, or none again where all that the page has were shown. */
export function unfold(rows: Row[], opened: Opened, at: number): void {
  const row = rows[at];
  const there = row && isFold(row) ? row.events?.length ?? 0 : 0;
  const shown = opened.get(at) ?? 0;
  if (shown >= there) opened.delete(at);
  else opened.set(at, Math.min(there, shown + PAGE));
}

/** The same for all folds of both orders at once; none again where all were shown. */
export function unfoldAll(orders: [Row[], Opened][]): void {
  const open = orders.flatMap(([rows, opened]) => rows.flatMap((row, at) =>
    (isFold(row) && (opened.get(at) ?? 0) < (row.events?.length ?? 0) ? [() => unfold(rows, opened, at)] : [])));
  if (open.length === 0) for (const [, opened] of orders) opened.clear();
  for (const act of open) act();
}

export interface Panel { element: HTMLElement; lines: Line[]; states: State[]; show(step: number, current: number | null): void; yOf(event: number): number | null; height: number }

/** The hue of each involved thread, in the order of the view. */
export function hues(view: View): Map<number, number> {
  const involved = view.threads.flatMap((thread, index) => (thread.involved ? [index] : []));
  return new Map(involved.map((thread, hue) => [thread, hue]));
}

function geometry(view: View, board: Board, width: number, opened: Opened): Geometry {
  const involved = hues(view);
  const rows = [...board.observed, ...board.witness, ...(opened.size > 0 ? board.unfolded ?? [] : [])].filter((row): row is Step => !isFold(row));
  const others = [...new Set(rows.map((row) => row.thread))].filter((thread) => !involved.has(thread));
  const largest = Math.max(0, ...rows.map((row) => row.event));
  const ids = Math.max(24, 5 + 6.5 * String(largest).length);
  const merged = others.length > 2;
  const rails = merged ? 1 : others.length;
  const left = ids + 6 + (rails > 0 ? rails * 13 + 8 : 0);
  const room = width - left - 4;
  const compact = room / Math.max(1, involved.size) < 100;
  const each = compact ? Math.max(9, Math.min(26, (room - 150) / involved.size)) : room / Math.max(1, involved.size);
  const lanes = new Map<number, Lane>();
  others.forEach((thread, index) => lanes.set(thread, { x: ids + 12 + (merged ? 0 : index * 13), left: 0, width: 0, hue: -1, rail: true }));
  for (const [thread, hue] of involved) lanes.set(thread, { x: left + hue * each + 9, left: left + hue * each, width: each, hue, rail: false });
  return { lanes, compact, text: left + involved.size * each + 8, ids, width };
}

/** Where the rows stand: events that can come at once share a row where there is room. */
function layout(rows: Row[], board: Board, witness: boolean, compact: boolean, opened: Opened): Line[] {
  const known = new Map((board.unfolded ?? []).map((step) => [step.event, step]));
  let y = 0;
  let pending = false;
  return rows.map((row, at) => {
    const isPending = !isFold(row) && row.pending === true;
    const cry = witness && (isPending ? !pending : at === board.bug && !rows.some((other) => !isFold(other) && other.pending));
    if (isPending && pending && !compact) return { row, at, y: y - HEIGHT, height: HEIGHT, inner: [] };
    pending ||= isPending;
    if (cry) y += HEIGHT;
    const events = isFold(row) ? (row.events ?? []).slice(0, opened.get(at) ?? 0) : [];
    const inner = events.flatMap((event) => known.get(event) ?? []);
    const line = { row, at, y, height: HEIGHT * (1 + inner.length), inner };
    y += line.height;
    return line;
  });
}

export function panel(view: View, board: Board, witness: boolean, width: number, opened: Opened, select: ((event: number) => void) | null, open: (at: number) => void): Panel {
  const rows = witness ? board.witness : board.observed;
  const shape = geometry(view, board, width, opened);
  const lines = layout(rows, board, witness, shape.compact, opened);
  const last = lines.at(-1);
  const height = (last ? last.y + last.height : HEIGHT) + 4;
  const all = states(rows);
  const ink = svg("svg", { class: "ink", width, height, "aria-hidden": "true" });
  const list = h("ol", { class: "rows", "aria-label": witness ? "Steps of the witness" : "Steps as observed" });
  draw(ink, view, rows, lines, all, shape, height, witness);
  const elements = lines.map((line) => {
    const element = rowElement(view, line, shape, board, witness, select, open);
    list.append(element, ...line.inner.map((row, place) => {
      const under = rowElement(view, { row, at: -1, y: line.y + HEIGHT * (place + 1), height: HEIGHT, inner: [] }, shape, board, witness, select, open);
      under.classList.add("inner");
      return under;
    }));
    return element;
  });
  const first = lines.find((line) => !isFold(line.row) && line.row.pending) ?? (witness ? lines[board.bug] : undefined);
  const cry = witness && first ? place(h("div", { class: "cry" }, clip(visible(capital(board.moment)), 120)), { top: first.y - HEIGHT, left: shape.ids + 14, width: width - shape.ids - 14 }) : null;
  const veil = h("div", { class: "veil", "aria-hidden": "true" });
  const canvas = place(h("div", { class: "canvas" }, ink, list, cry, veil), { height });
  const element = h("div", { class: witness ? "panel witness" : "panel" },
    h("h2", null, witness ? "Witness" : "Observed", h("span", null, witness ? "what can happen" : "what did happen")), heads(view, shape), canvas);
  const yOf = (event: number): number | null => {
    const line = lines.find((line) => !isFold(line.row) && line.row.event === event);
    return line ? line.y + HEIGHT / 2 : null;
  };
  const show = (step: number, current: number | null): void => {
    elements.forEach((element, at) => {
      const row = rows[at];
      const now = row !== undefined && !isFold(row) && row.event === current || witness && at === step;
      element.classList.toggle("now", now);
      element.classList.toggle("ahead", witness && at > step);
      for (let under = element.nextElementSibling; under?.classList.contains("inner"); under = under.nextElementSibling) under.classList.toggle("ahead", witness && at > step);
      if (now) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    });
    const line = witness ? lines[step] : lines.find((line) => !isFold(line.row) && line.row.event === current);
    const below = line && witness ? line.y + line.height : height;
    // Its wash lies over marks and lines; words that are ahead have a colour of their own, which can be read.
    place(veil, { top: below, height: Math.max(0, height - below) });
    cry?.classList.toggle("ahead", line !== undefined && witness && first !== undefined && first.y > line.y);
  };
  return { element, lines, states: all, show, yOf, height };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function heads(view: View, shape: Geometry): HTMLElement {
  const box = h("div", { class: "lanes" });
  const rails = [...shape.lanes].filter(([, lane]) => lane.rail);
  for (const [thread, lane_] of shape.lanes) {
    const about = view.threads[thread];
    if (!about || lane_.rail) continue;
    const element = h("div", { class: "lane", "--c": lane(lane_.hue), title: visible(about.name) }, name(about.name, "", 20),
      !shape.compact && about.start && about.start !== about.name ? h("span", { class: "role" }, name(about.start, "", 24)) : null);
    box.append(place(element, { left: lane_.x - 5, width: shape.compact ? Math.max(22, lane_.width) : lane_.width - 4 }));
  }
  if (rails.length > 0) {
    const text = rails.length > 2 ? `+${rails.length}` : rails.map(([thread]) => clip(visible(view.threads[thread]?.name ?? ""), 6)).join(" ");
    box.append(place(h("div", { class: "lane rails" }, text), { left: 0, width: shape.ids + 6 + rails.length * 13 }));
  }
  return box;
}

function rowElement(view: View, line: Line, shape: Geometry, board: Board, witness: boolean, select: ((event: number) => void) | null, open: (at: number) => void): HTMLElement {
  const { row } = line;
  if (isFold(row)) {
    const of = row.of_threads > 1 ? ` of ${plural(row.of_threads, "thread")}` : "";
    const all = `${plural(row.folded, "event")}${of}`;
    const there = row.events?.length ?? 0;
    const shown = line.inner.length;
    const act = there === 0 ? "" : shown === 0 ? "unfold" : shown < there ? `${Math.min(PAGE, there - shown)} more` : "fold";
    const rest = shown > 0 && shown === there && there < row.folded ? ", the page has no more" : "";
    const text = shown === 0 ? `… ${all}` : `${shown} of ${all}${rest}`;
    const label = place(h("span", { class: "label" }, text, act ? h("span", { class: "act" }, act) : null), { left: shape.ids + 26 });
    const hit = act ? h("button", { class: "hit", type: "button", "aria-expanded": String(shown > 0), "aria-label": `${text}: ${act}`, click: () => open(line.at) }) : null;
    return place(h("li", { class: shown > 0 ? "row fold open" : "row fold" }, hit, label), { top: line.y });
  }
  const lane_ = shape.lanes.get(row.thread);
  const inLane = lane_ !== undefined && !lane_.rail && !shape.compact;
  const aside = lane_?.rail === true && !shape.compact;
  const left = inLane ? lane_.x + 13 : aside ? lane_.x + 10 : shape.text;
  const room = inLane ? lane_.left + lane_.width - left - 3 : shape.width - left;
  const seen = observed(row);
  const target = row.target === undefined ? null : view.targets[row.target];
  const changed = witness && (seen.was !== null || seen.freed);
  const label = h("span", { class: aside ? "label other" : row.op === "fork" ? "label over" : "label" },
    inLane ? null : h("span", { class: "who" }, name(view.threads[row.thread]?.name ?? "", "", 16)),
    h("span", { class: "verb" }, verb(row.op)), target ? name(tight(view, target), "name", 40) : null,
    seen.value !== null && !seen.value.startsWith("0x") ? h("span", { class: changed ? "val new" : "val" }, seen.freed ? "freed" : `= ${seen.value}`) : null);
  const classes = ["row", "event", row.bug ? "key" : "", row.pending ? "moment" : "", witness && line.at === board.bug && !row.pending ? "bang" : ""];
  const said = sentence(view, row);
  // Events that share a row leave the number and the button to the first of them.
  const shared = row.pending && !shape.compact && line.at > 0 && isPending(board.witness[line.at - 1]);
  return place(h("li", { class: [...classes, shared ? "shared" : ""].filter(Boolean).join(" ") },
    select ? h("button", { class: "hit", type: "button", "aria-label": `event ${row.event}: ${said}`, click: () => select(row.event), ...(shared ? { "data-shared": true } : {}) }) : null,
    shared ? null : place(h("span", { class: "id" }, row.event), { width: shape.ids - 2 }),
    place(label, { left, "max-width": Math.max(20, room) })), { top: line.y });
}

const isPending = (row: Row | undefined): boolean => row !== undefined && !isFold(row) && row.pending === true;

function draw(ink: SVGElement, view: View, rows: Row[], lines: Line[], all: State[], shape: Geometry, height: number, witness: boolean): void {
  const middle = (at: number): number => (lines[at]?.y ?? height) + HEIGHT / 2;
  const steps = rows.map((row, at) => ({ row, at })).filter((entry): entry is { row: Step; at: number } => !isFold(entry.row));
  // Lifelines start where the thread is started, where that is shown.
  for (const [thread, lane_] of shape.lanes) {
    const started = steps.find(({ row }) => row.op === "fork" && row.target !== undefined && view.targets[row.target]?.name === view.threads[thread]?.name);
    const ended = steps.find(({ row }) => row.thread === thread && row.op === "end");
    const y1 = started ? middle(started.at) : 0;
    const y2 = ended ? middle(ended.at) : height;
    ink.append(svg("line", { class: lane_.rail ? "life rail" : "life", x1: lane_.x, x2: lane_.x, y1, y2, "--c": lane_.rail ? "var(--faint)" : lane(lane_.hue) }));
    const parent = started && shape.lanes.get(started.row.thread);
    if (started && parent && !lane_.rail) ink.append(svg("path", { class: "fork", d: `M${parent.x} ${y1}H${lane_.x}` }));
  }
  for (const section of sections(rows, all)) {
    const lane_ = shape.lanes.get(section.thread);
    if (!lane_ || lane_.rail) continue;
    const width = Math.min(10, lane_.width * 0.6);
    const y1 = middle(section.from) - 3;
    const y2 = section.to >= rows.length ? height : middle(section.to) + 3;
    ink.append(svg("rect", { class: "bar", x: lane_.x - width / 2 + section.depth * 3, y: y1, width, height: Math.max(2, y2 - y1), rx: 2, "--c": lane(lane_.hue) }));
  }
  for (const { row, at } of steps) observes(ink, row, at, steps, shape, middle, witness);
  if (witness) blocked(ink, lines, all, shape);
  for (const { row, at } of steps) {
    const lane_ = shape.lanes.get(row.thread);
    if (!lane_) continue;
    const colour = lane_.rail ? "var(--faint)" : lane(lane_.hue);
    if (row.bug) ink.append(svg("circle", { class: "ring", cx: lane_.x, cy: middle(at), r: Math.min(8.5, lane_.rail ? 7 : Math.max(5, lane_.width * 0.46)) }));
    ink.append(mark(row.op, lane_.x, middle(at), colour));
  }
  for (const line of lines) {
    line.inner.forEach((row, place) => {
      const lane_ = shape.lanes.get(row.thread);
      if (lane_) ink.append(mark(row.op, lane_.x, line.y + HEIGHT * (place + 1.5), lane_.rail ? "var(--faint)" : lane(lane_.hue)));
    });
  }
  const together = lines.filter((line) => isPending(line.row) && !isFold(line.row) && !LOCKS.has(line.row.op));
  const xs = together.map((line) => (isFold(line.row) ? 0 : shape.lanes.get(line.row.thread)?.x ?? 0));
  if (together.length > 1 && together.every((line) => line.y === together[0]?.y)) {
    const y = together[0]?.y ?? 0;
    ink.append(svg("path", { class: "clash", d: `M${Math.min(...xs)} ${y + 4}V${y + 0.5}H${Math.max(...xs)}V${y + 4}` }));
  }
}

/** A line from the write to the bug's read that observes it. It runs between rows, not through words. */
function observes(ink: SVGElement, row: Step, at: number, steps: { row: Step; at: number }[], shape: Geometry, middle: (at: number) => number, witness: boolean): void {
  if (!row.bug || row.reads?.writer === undefined) return;
  const writer = steps.find((other) => other.row.event === row.reads?.writer && other.at < at);
  const from = writer && shape.lanes.get(writer.row.thread);
  const to = shape.lanes.get(row.thread);
  if (!writer || !from || !to || writer.row.thread === row.thread) return;
  const y = middle(writer.at) + HEIGHT / 2;
  const x = to.x - 11;
  const changed = witness && (row.reads.changed === true || row.reads.freed === true);
  ink.append(svg("path", { class: changed ? "observes changed" : "observes", d: `M${from.x} ${middle(writer.at) + 6}V${y}H${x}V${middle(at)}H${to.x - 9}` }));
}

/** Arcs from each thread that waits to the one that holds what it waits for. */
function blocked(ink: SVGElement, lines: Line[], all: State[], shape: Geometry): void {
  const waiting = lines.filter((line) => isPending(line.row));
  const state = all.at(-1);
  for (const line of waiting) {
    if (isFold(line.row)) continue;
    const from = shape.lanes.get(line.row.thread);
    for (const by of state?.threads.get(line.row.thread)?.blocked_by ?? []) {
      const to = shape.lanes.get(by);
      if (!from || !to) continue;
      const y = line.y + 20;
      const drop = from.x < to.x ? 8 : 14;
      const end = to.x + (from.x < to.x ? -4 : 4);
      ink.append(svg("path", { class: "clash", d: `M${from.x} ${y}C${from.x} ${y + drop} ${end} ${y + drop} ${end} ${y + 1}M${end - 3} ${y + 5}L${end} ${y + 1}L${end + 3} ${y + 5}` }));
    }
  }
}

/** The crossing: a line for each event that both orders show, the bug's own in red. */
export function crossing(left: Panel, right: Panel, width: number): SVGElement {
  const height = Math.max(left.height, right.height);
  const ink = svg("svg", { class: "crossing", width, height, "aria-hidden": "true" });
  const curves: [boolean, SVGElement][] = [];
  for (const { row } of left.lines) {
    if (isFold(row)) continue;
    const from = left.yOf(row.event);
    const to = right.yOf(row.event);
    if (from === null || to === null) continue;
    const d = `M0 ${from}C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`;
    curves.push([row.bug === true, svg("path", { class: row.bug ? "weft key" : "weft", d })]);
  }
  for (const [, curve] of curves.sort((a, b) => Number(a[0]) - Number(b[0]))) ink.append(curve);
  return ink;
}
