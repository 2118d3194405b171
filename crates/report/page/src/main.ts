// The page: the list, the finding that the address names, and the keys.

import { answerWords, showAnswer } from "./answer";
import { items, load, type Item } from "./data";
import { show, type Shown } from "./finding";
import { brand, drawList, groups, ROOM, type Filter } from "./list";
import { h } from "./dom";
import { fit, printAll, restore } from "./print";

const data = load();
const all = items(data);
const list = document.getElementById("list") as HTMLElement;
const detail = document.getElementById("detail") as HTMLElement;
const filter: Filter = { text: "", kinds: new Set(), hideWarnings: false };
let current: Item | null = null;
let shown: Shown | null = null;
let pending: number | null = null;
/** How many entries of the list are drawn. */
let room = ROOM;
const answer = data.answers?.[0];
/** Draws the answer again, while it is the answer that is open. */
let again: (() => void) | null = null;

const ordered = (): Item[] => groups(data, all, filter).flatMap((group) => group.items);

function redraw(): void {
  if (current) room = Math.max(room, ordered().indexOf(current) + 20);
  if (all.length > 0 || !answer) drawList(list, data, all, filter, current, room, { again: filtered, more, theme, print: () => printAll(data, ordered()) });
  else list.replaceChildren(brand(theme));
  if (!answer) return;
  const link = h("a", { class: "item answer", href: "#answer", "aria-current": again ? "true" : null }, h("span", { class: "kind" }, answerWords(answer)));
  (list.querySelector(".about") ?? list.querySelector(".brand"))?.after(link);
}

/** The list anew after the filter has changed, from its beginning. */
function filtered(): void {
  room = ROOM;
  redraw();
}

function more(): void {
  room *= 2;
  redraw();
}

function theme(): void {
  const root = document.documentElement;
  const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
}

/** The address of a step. Browsers limit how often it may change. */
function remember(step: number): void {
  if (pending !== null) window.clearTimeout(pending);
  pending = window.setTimeout(() => {
    pending = null;
    // Where the address names another finding already, that one is about to be opened.
    const [id] = named();
    if (current && (id === "" || id === current.id)) history.replaceState(null, "", `#${current.id}@${step}`);
  }, 250);
}

function open(item: Item | undefined, step: number | null): void {
  const result = item && data.results[item.run];
  if (!item || !result) return;
  if (item !== current || again) {
    shown?.stop();
    again = null;
    current = item;
    shown = show(detail, item, result, step, remember);
    window.scrollTo(0, 0);
    redraw();
  } else if (step !== null) shown?.go(step);
}

/** The finding and the step that the address names. */
function named(): [string, string | undefined] {
  const [id, step] = location.hash.slice(1).replace("%40", "@").split("@");
  return [id ?? "", step];
}

function follow(): void {
  const [id, step] = named();
  const item = all.find((one) => one.id === id);
  document.body.dataset["view"] = item || id === "answer" ? "detail" : "list";
  if (answer && !item && (id === "answer" || !current)) {
    shown?.stop();
    again = showAnswer(detail, answer);
    return redraw();
  }
  open(item ?? (current ? undefined : ordered()[0]), item && step ? Number(step) || 0 : null);
}

function beside(by: number): void {
  const order = ordered();
  const at = current ? order.indexOf(current) : -1;
  const next = order[Math.max(0, Math.min(order.length - 1, at + by))];
  if (next) location.hash = next.id;
}

const KEYS: Record<string, () => void> = {
  ArrowLeft: () => shown?.go(shown.step - 1), ArrowRight: () => shown?.go(shown.step + 1), Home: () => shown?.go(0),
  End: () => shown?.go(shown.bug), b: () => shown?.go(shown.bug), e: () => shown?.unfold(), " ": () => shown?.play(), j: () => beside(1), k: () => beside(-1),
  "/": () => document.getElementById("q")?.focus(), t: theme,
};

document.addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  const typing = target.matches("input[type=search]");
  if (event.key === "Escape" && typing) target.blur();
  const act = KEYS[event.key];
  if (!act || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  // A button has its own meaning of the space bar, the slider of the arrows.
  if (event.key === " " && target.matches("button, summary") || target.matches("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
  event.preventDefault();
  if (event.key !== " ") shown?.stop();
  act();
});

let width = 0;
new ResizeObserver(() => {
  if (Math.abs(detail.clientWidth - width) < 2) return;
  width = detail.clientWidth;
  if (again) again();
  else shown?.resize();
}).observe(detail);

window.addEventListener("beforeprint", () => fit(shown));
window.addEventListener("afterprint", () => restore(shown));
window.addEventListener("hashchange", follow);
redraw();
follow();
if (all.length === 0 && !answer) detail.textContent = "Nothing was found.";
