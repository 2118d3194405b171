// The document in the page, as `docs/json.md` describes it.

export interface Site { text: string; function?: string; inlined_in?: string[]; file?: string; line?: number; column?: number }
export interface Target { name: string; kind: string; base: string; part?: string; note?: string }
export interface Thread { name: string; start?: string; involved: boolean; created?: { event: number; by: string; site: number } }
export interface Held { lock: number; since: number; site: number; shared?: boolean }
export interface Role { event: number; thread: number; text: string; held?: Held[] }
export interface Next { event: number; op: string; target?: number; site?: number }
export interface ThreadState { thread: number; held?: number[]; next?: Next; blocked_by?: number[] }
export interface VariableState { target: number; value?: string; writer?: number; freed?: boolean }
export interface Reads { writer?: number; value?: string; changed?: boolean; freed?: boolean }
interface Delta { threads?: ThreadState[]; values?: VariableState[] }
export interface Fold extends Delta { folded: number; of_threads: number; events?: number[] }
export interface Step extends Delta {
  event: number; thread: number; op: string; target?: number; site?: number; value?: string;
  bug?: boolean; pending?: boolean; reads?: Reads;
}
export type Row = Step | Fold;
export interface Board { observed: Row[]; witness: Row[]; bug: number; moment: string; unfolded?: Step[] }
export interface Excerpt { file: string; first: number; lines: string[]; newer?: boolean }
export interface View {
  title: string; summary: string; roles: Role[]; wrong?: string; next: string;
  threads: Thread[]; targets: Target[]; sites: Site[]; board?: Board; sources?: Excerpt[];
}
export interface Severity { level: "error" | "warning"; harm?: string; reason: string }
export interface ReplayRun { order: string; outcome: string; harm: string; ended: string; output: string }
export interface Origin { what: string; name: string; by: string; event: number; stack: string[] }
export interface Finding {
  kind: string; pattern: string; fingerprint: string; events: number[]; sites: string[]; target: string; model?: string;
  stacks?: string[][]; origins?: Origin[]; witness_prefix?: number; witness?: unknown[]; instances?: number;
  severity?: Severity; replay?: string; replays?: ReplayRun[]; view?: View;
}
export interface Result {
  trace: { path: string; events: number; threads: number };
  model: string; findings: Finding[]; program?: string[];
}
export interface About { traces: number; events: number; findings: number; undecided: number }
export interface Data { tool: string; about: About; results: Result[]; left_out: number; not_listed?: number; answers?: Answer[] }

/** An answer that is no finding. */
export type Tone = "good" | "bad" | "open";
export interface Stop { event: number; thread: number; op: string; text: string; site: string }
export interface Arrow { from: number; to: number; reason: string; asked: boolean }
export interface Circle { threads: string[]; events: Stop[]; steps: Arrow[] }
export interface Picture { title: string; caption: string; tone: Tone; view: View }
export interface Answer {
  kind: string; tone: Tone; title: string; summary: string; facts: { term: string; text: string }[]; reasons?: string[];
  circle?: Circle; compared?: { title: string; before: string; after: string; tone: Tone }[]; listings?: { title: string; text: string }[]; pictures?: Picture[];
}

/** A finding with its place in the page. */
export interface Item { id: string; run: number; finding: Finding; base: string; note: string; rank: number }

export const isFold = (row: Row): row is Fold => "folded" in row;

export function load(): Data {
  return JSON.parse(document.getElementById("data")?.textContent ?? "{}") as Data;
}

/** All findings, each with the part of the address that leads to it. */
export function items(data: Data): Item[] {
  const seen = new Map<string, number>();
  const all: Item[] = [];
  data.results.forEach((result, run) => {
    for (const finding of result.findings) {
      const key = finding.fingerprint.slice(0, 8);
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      const first = finding.target.split(", ")[0] ?? "";
      const target = finding.view?.targets.find((target) => target.name === first);
      all.push({
        id: count > 1 ? `${key}.${count}` : key,
        run,
        finding,
        base: target?.base ?? first,
        note: target?.note ?? "",
        rank: rank(finding),
      });
    }
  });
  return all;
}

/** The order of the list: what did harm first, then errors, then warnings. */
function rank(finding: Finding): number {
  const harm = finding.severity?.harm;
  if (harm && harm !== "none") return 0;
  return finding.severity?.level === "warning" ? 2 : 1;
}
