// Printing: what is drawn for a window is drawn anew for a sheet of paper.

import type { Data, Item } from "./data";
import { show, type Shown } from "./finding";
import { h } from "./dom";

const root = document.documentElement;

/** Draws the finding that is open as wide as a sheet. */
export function fit(shown: Shown | null): void {
  root.classList.add("printing");
  if (!root.classList.contains("all")) shown?.resize();
}

/** As wide as the window again; sheets that were only for the printer are gone. */
export function restore(shown: Shown | null): void {
  document.getElementById("sheets")?.remove();
  root.classList.remove("printing", "all");
  shown?.resize();
}

/** Prints each of these findings, from a sheet of its own on. */
export function printAll(data: Data, items: Item[]): void {
  const sheets = h("div", { id: "sheets" });
  document.body.append(sheets);
  root.classList.add("printing", "all");
  for (const item of items) {
    const result = data.results[item.run];
    if (!result) continue;
    const sheet = h("article", { class: "sheet" });
    sheets.append(sheet);
    show(sheet, item, result, null, () => undefined);
  }
  window.print();
}
