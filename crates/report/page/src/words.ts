// Words for operations, kinds and names.

import type { Finding, Site, Step, Target, View } from "./data";
import { clip, visible } from "./dom";

export const KINDS: Record<string, string> = {
  race: "Data race", deadlock: "Deadlock", uaf: "Use after free", order: "Order violation", atomicity: "Atomicity",
};

const VERBS: Record<string, [string, string]> = {
  r: ["read", "reads"], w: ["write", "writes"], ar: ["atomic read", "reads"], aw: ["atomic write", "writes"],
  au: ["update", "updates"], af: ["failed update", "fails to update"], acq: ["lock", "locks"], tryacq: ["try-lock", "locks"],
  busy: ["try-lock fails", "finds locked"], rel: ["unlock", "unlocks"], racq: ["lock shared", "locks, shared,"],
  rrel: ["unlock shared", "unlocks"], fork: ["start", "starts"], join: ["join", "joins"], wait: ["woken by", "is woken by"],
  notify: ["notify", "notifies"], notifyall: ["notify all", "notifies all of"], alloc: ["allocate", "allocates"],
  free: ["free", "frees"], br: ["branch", "decides by what it read"], begin: ["begins", "begins"], end: ["ends", "ends"],
  call: ["call", "calls"], look: ["look at", "looks at"], unseen: ["unrecorded write", "has written, unrecorded,"],
};

export const verb = (op: string): string => VERBS[op]?.[0] ?? op;
export const verbs = (op: string): string => VERBS[op]?.[1] ?? op;

export const LOCKS = new Set(["acq", "tryacq", "racq"]);
export const READS = new Set(["r", "ar", "au", "af"]);

export function kindWords(finding: Finding): string {
  const special: Record<string, string> = {
    "lost-wake-up": "Lost wake-up", "use-before-initialisation": "Use before initialisation", "double-free": "Double free",
    "dead-holder": "Lock never released",
  };
  return special[finding.pattern] ?? KINDS[finding.kind] ?? finding.kind;
}

export const short = (target: Target | undefined): string => (target ? target.base + (target.part ?? "") : "");

/** The same for the board: the only heap block that a finding is about needs no name. */
export function tight(view: View, target: Target): string {
  const isHeap = (one: Target): boolean => one.note?.startsWith("heap block") === true;
  const blocks = new Set(view.targets.filter(isHeap).map((one) => one.base));
  return isHeap(target) && blocks.size === 1 ? `block${target.part ?? ""}` : short(target);
}

export function siteShort(site: Site | undefined): string {
  if (!site || site.text === "?" || site.text === "") return "";
  if (!site.file) return clip(visible(site.text), 60);
  return `${site.file.split("/").pop() ?? ""}:${site.line ?? ""}`;
}

/** A long number is an address. */
export const value = (text: string): string =>
  /^\d{12,20}$/.test(text) ? `0x${BigInt(text).toString(16)}` : clip(visible(text), 24);

/** `T2 reads price = freed (was 30)`. */
export function sentence(view: View, step: Step): string {
  const thread = clip(visible(view.threads[step.thread]?.name ?? ""), 40);
  const target = step.target === undefined ? "" : ` ${clip(visible(short(view.targets[step.target])))}`;
  if (step.pending) return LOCKS.has(step.op) || step.op === "wait" ? `${thread} waits for${target}` : `${thread} can now ${verb(step.op)}${target}`;
  const seen = observed(step);
  const is = seen.value === null ? "" : ` = ${seen.value}`;
  return `${thread} ${verbs(step.op)}${target}${is}${seen.was === null ? "" : ` (was ${seen.was})`}`;
}

/** What a step reads or writes in its order, and what it read in the run where that differs. */
export function observed(step: Step): { value: string | null; was: string | null; freed: boolean } {
  const own = step.value === undefined ? null : value(step.value);
  const reads = step.reads;
  if (!reads) return { value: own, was: null, freed: false };
  if (reads.freed) return { value: "freed", was: own, freed: true };
  const now = reads.value === undefined ? (reads.changed ? "?" : own) : value(reads.value);
  return { value: READS.has(step.op) && step.op !== "au" ? now : own, was: reads.changed && now !== own ? own : null, freed: false };
}
