// Elements. Every text goes in as text, so that no name of a trace can become markup.

type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Attributes | null, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes?: Attributes | null, ...children: Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

function fill<E extends HTMLElement | SVGElement>(element: E, attributes: Attributes | null | undefined, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (name.startsWith("--")) element.style.setProperty(name, String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Places an element: style attributes are forbidden by the page's policy, properties are not. */
export function place<E extends HTMLElement>(element: E, box: Partial<Record<"left" | "top" | "width" | "height" | "max-width", number>>): E {
  for (const [side, value] of Object.entries(box)) element.style.setProperty(side, `${value}px`);
  return element;
}

// Control characters and what changes the direction of text become visible: a name must not rearrange what is around it.
export const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export const visible = (text: string): string =>
  text.replace(HIDDEN, (c) => `⟨${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

export const clip = (text: string, most = 56): string =>
  text.length > most ? `${text.slice(0, most - 12)}…${text.slice(-8)}` : text;

/** A name: shown as it is, isolated from the direction of what is around it, whole in its tooltip. */
export function name(text: string, className = "name", most = 56): HTMLElement {
  const shown = clip(visible(text), most);
  return h("bdi", { class: className, title: shown === text ? null : visible(text).slice(0, 400) }, shown);
}

export const plural = (count: number, word: string): string => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
