// The list of findings: grouped by what they are on, the worst group first.

import type { Data, Item } from "./data";
import { clip, h, name, plural, visible } from "./dom";
import { KINDS, kindWords, short, siteShort } from "./words";

export interface Filter { text: string; kinds: Set<string>; hideWarnings: boolean }

/** How many entries are drawn at first; the rest follows when it is scrolled to, twice as many each time. */
export const ROOM = 150;

const LEVELS = ["high", "medium", "low"];
const SAID = ["error that did harm", "error", "warning"];

export function level(item: Item): HTMLElement {
  const word = LEVELS[item.rank] ?? "low";
  const reason = item.finding.severity?.reason ?? "";
  return h("span", { class: `level ${word}`, title: visible(reason) }, h("i"), h("i"), h("i"), h("span", { class: "sr" }, SAID[item.rank] ?? "warning"));
}

function matches(item: Item, filter: Filter, path: string): boolean {
  const { finding } = item;
  if (filter.kinds.size > 0 && !filter.kinds.has(finding.kind)) return false;
  if (filter.hideWarnings && item.rank === 2) return false;
  const text = [finding.target, finding.kind, finding.pattern, finding.fingerprint, item.base, path, ...finding.sites].join(" ");
  return text.toLowerCase().includes(filter.text.toLowerCase());
}

interface Group { run: number; base: string; note: string; items: Item[] }

/** Groups in the order of the list. */
export function groups(data: Data, all: Item[], filter: Filter): Group[] {
  const found = new Map<string, Group>();
  for (const item of all) {
    if (!matches(item, filter, data.results[item.run]?.trace.path ?? "")) continue;
    const key = `${item.run}\0${item.base}`;
    const group = found.get(key) ?? { run: item.run, base: item.base, note: item.note, items: [] };
    found.set(key, group);
    group.items.push(item);
  }
  const list = [...found.values()];
  for (const group of list) group.items.sort((a, b) => a.rank - b.rank);
  const worst = (group: Group): number => group.items[0]?.rank ?? 2;
  return list.sort((a, b) => a.run - b.run || worst(a) - worst(b));
}

function entry(item: Item, current: Item | null): HTMLElement {
  const { finding } = item;
  const view = finding.view;
  const sites = view
    ? view.roles.map((role) => {
        const text = finding.sites[view.roles.indexOf(role)] ?? "";
        const site = view.sites.find((site) => site.text === text);
        return site?.function ? `${site.function}:${site.line ?? ""}` : siteShort(site ?? { text });
      })
    : finding.sites;
  const others = finding.target.split(", ").slice(1).map((other) => short(view?.targets.find((target) => target.name === other)) || other);
  const pattern = finding.kind === "atomicity" ? (others.length > 0 ? ["with ", name(others.join(", "), "with", 28)] : finding.pattern) : null;
  const confirmed = finding.replay === "confirmed" && h("span", { class: "tick", role: "img", title: "confirmed by replay", "aria-label": "confirmed by replay" }, "✓");
  return h("li", null,
    h("a", { class: "item", href: `#${item.id}`, "aria-current": item === current ? "true" : null },
      level(item), h("span", { class: "kind" }, kindWords(finding), pattern && h("span", { class: "pattern" }, " ", pattern)), confirmed,
      h("span", { class: "where" }, h("bdi", null, clip(visible([...new Set(sites)].slice(0, 3).join("  ·  ")), 90)))));
}

/** The head of the list. */
export const brand = (theme: () => void): HTMLElement => h("header", { class: "brand" }, h("h1", null, "Reweave"),
  h("button", { class: "quiet", type: "button", title: "Light or dark (t)", "aria-label": "Switch between light and dark", click: theme }, "◐"));

/** What its buttons do. */
export interface Acts { again(): void; more(): void; theme(): void; print(): void }

/** The list, drawn into its element. */
export function drawList(into: HTMLElement, data: Data, all: Item[], filter: Filter, current: Item | null, room: number, acts: Acts): void {
  const { again, theme } = acts;
  const list = groups(data, all, filter);
  const counts = new Map<string, number>();
  for (const { finding } of all) counts.set(finding.kind, (counts.get(finding.kind) ?? 0) + 1);
  const chips = Object.keys(KINDS).filter((kind) => counts.has(kind)).map((kind) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(filter.kinds.has(kind)), click: () => {
      if (!filter.kinds.delete(kind)) filter.kinds.add(kind);
      again();
    } }, KINDS[kind] ?? kind, h("span", { class: "count" }, counts.get(kind))));
  if (all.some((item) => item.rank === 2) && all.some((item) => item.rank < 2)) {
    chips.push(h("button", { class: "chip", type: "button", "aria-pressed": String(filter.hideWarnings), click: () => {
      filter.hideWarnings = !filter.hideWarnings;
      again();
    } }, "Hide warnings"));
  }
  const search = h("input", { id: "q", type: "search", placeholder: "Filter by variable, function, file", "aria-label": "Filter findings", value: filter.text, input: () => {
    filter.text = search.value;
    again();
  } });
  const focused = document.activeElement?.id === "q";
  const caret = focused ? (document.activeElement as HTMLInputElement).selectionStart ?? 0 : 0;
  const scroll = into.scrollTop;
  into.replaceChildren(
    brand(theme),
    about(data),
    h("div", { class: "filters", role: "search" }, search, h("div", { class: "chips", role: "group", "aria-label": "Kinds" }, chips.length > 1 ? chips : null)),
    drawGroups(data, list, current, room, acts.more),
    ...printing(list.reduce((sum, group) => sum + group.items.length, 0), acts));
  if (focused) {
    search.focus();
    search.setSelectionRange(caret, caret);
  }
  into.scrollTop = scroll;
}

/** A browser prints the finding that is open; this prints all that the filter leaves. */
function printing(count: number, acts: Acts): HTMLElement[] {
  if (count < 2) return [];
  return [h("button", { class: "quiet print", type: "button", click: acts.print }, `Print these ${count.toLocaleString("en")} findings`)];
}

function about(data: Data): HTMLElement {
  const [first] = data.results;
  const { traces, events, findings, undecided: open } = data.about;
  return h("p", { class: "about" },
    traces === 1 && first ? name(first.trace.path, "", 40) : plural(traces, "trace"),
    `, ${plural(events, "event")}`, h("br"), plural(findings, "finding"), open > 0 ? `, ${open.toLocaleString("en")} undecided` : "",
    data.left_out > 0 ? `; ${data.left_out.toLocaleString("en")} without a picture` : "",
    data.not_listed ? `; ${data.not_listed.toLocaleString("en")} more are only in the JSON` : "");
}

/** Draws the rest when it comes into sight, or is asked for. */
function sentinel(rest: number, more: () => void): HTMLElement {
  const button = h("button", { class: "quiet rest", type: "button", click: more }, `Show more: ${plural(rest, "finding")} below`);
  const sight = new IntersectionObserver((seen) => {
    if (!button.isConnected) sight.disconnect();
    else if (seen.some((one) => one.isIntersecting)) {
      sight.disconnect();
      more();
    }
  });
  sight.observe(button);
  return button;
}

function drawGroups(data: Data, list: Group[], current: Item | null, room: number, more: () => void): HTMLElement {
  const box = h("div", { class: "groups" });
  let run = -1;
  let left = room;
  const some = (items: Item[]): Item[] => {
    const part = items.slice(0, left);
    left -= part.length;
    return part;
  };
  for (const group of list) {
    if (left <= 0) break;
    if (data.results.length > 1 && group.run !== run) {
      run = group.run;
      box.append(h("h2", { class: "run" }, name(data.results[run]?.trace.path ?? "", "", 60)));
    }
    const low = (item: Item): boolean => item.rank === 2 && group.items.length > 4;
    const head = group.items.filter((item) => !low(item));
    const tail = group.items.filter(low);
    if (head.length === 0) head.push(...tail.splice(0, 3));
    box.append(h("section", { class: "group" },
      h("h3", null, name(group.base), h("span", { class: "note" }, group.note === "global" ? "global" : ""), h("span", { class: "count" }, group.items.length)),
      h("ul", null, some(head).map((item) => entry(item, current))),
      tail.length > 0 && h("details", { class: "more", open: current !== null && tail.includes(current) },
        h("summary", null, `${plural(tail.length, "more warning")}`), h("ul", null, some(tail).map((item) => entry(item, current))))));
  }
  const rest = list.reduce((sum, group) => sum + group.items.length, 0) - (room - left);
  if (rest > 0) box.append(sentinel(rest, more));
  if (list.length === 0) box.append(h("p", { class: "none" }, "Nothing matches this filter."));
  return box;
}
