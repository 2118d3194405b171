// The state at each row of an order: what the tool wrote as differences, added up.

import { isFold, type Row, type ThreadState, type VariableState } from "./data";

export interface State { threads: Map<number, ThreadState>; values: Map<number, VariableState> }

/** The state after each row. */
export function states(rows: Row[]): State[] {
  let threads = new Map<number, ThreadState>();
  let values = new Map<number, VariableState>();
  return rows.map((row) => {
    if (row.threads?.length) {
      threads = new Map(threads);
      for (const state of row.threads) threads.set(state.thread, state);
    }
    if (row.values?.length) {
      values = new Map(values);
      for (const state of row.values) values.set(state.target, state);
    }
    return { threads, values };
  });
}

/** Stretches of rows over which a thread holds a lock. */
export interface Section { thread: number; lock: number; from: number; to: number; depth: number }

export function sections(rows: Row[], all: State[]): Section[] {
  const open = new Map<string, Section>();
  const done: Section[] = [];
  all.forEach((state, at) => {
    const here = new Set<string>();
    for (const [thread, { held = [] }] of state.threads) {
      held.forEach((lock, depth) => {
        const key = `${thread}:${lock}`;
        here.add(key);
        const known = open.get(key);
        if (known) known.to = at;
        else open.set(key, { thread, lock, from: at, to: at, depth });
      });
    }
    for (const [key, section] of open) {
      if (here.has(key)) continue;
      section.to = at;
      done.push(section);
      open.delete(key);
    }
  });
  for (const section of open.values()) done.push({ ...section, to: rows.length });
  return done;
}

export const eventOf = (row: Row): number | null => (isFold(row) ? null : row.event);
