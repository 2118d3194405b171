//! Counts from LLVM's own text of a module: a reading that shares nothing with the one of the plugin.

use std::collections::{BTreeMap, HashMap, HashSet};

/// What the text has.
#[derive(Default, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) functions: u64,
    pub(crate) blocks: u64,
    pub(crate) operations: BTreeMap<String, u64>,
    pub(crate) phi_inputs: u64,
    pub(crate) arguments: u64,
    pub(crate) cases: u64,
    pub(crate) clauses: u64,
    /// Uses of results and arguments as operands: function, user, and what is used, results by their number, arguments from -1
    /// down; in order.
    pub(crate) uses: Vec<(usize, usize, i64)>,
    pub(crate) predicates: BTreeMap<String, u64>,
    pub(crate) orders: BTreeMap<String, u64>,
    pub(crate) volatile: u64,
}

/// Reads the text of a module.
pub(crate) fn read(text: &str) -> Text {
    let mut found = Text::default();
    let names = text.lines().filter_map(|line| Some(line.split_once(" = type ")?.0));
    let types: HashSet<&str> = names.filter(|name| name.starts_with('%')).collect();
    let (mut inside, mut begins) = (false, false);
    let mut statements: Vec<String> = Vec::new();
    // Per function where its statements begin, and its first line.
    let mut functions: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        if line.starts_with("define ") {
            (inside, begins) = (true, true);
            found.functions += 1;
            functions.push((statements.len(), line));
            continue;
        }
        let body = line.trim_start();
        if !inside || body.is_empty() || body.starts_with("#dbg_") || body.starts_with(';') {
            continue;
        }
        if line == "}" {
            inside = false;
        } else if !line.starts_with(' ') {
            assert!(line.split(" ;").next().unwrap().trim_end().ends_with(':'), "{line}");
            found.blocks += 1;
        } else if line.starts_with("   ") || body.starts_with(']') {
            let last = statements.last_mut().expect("something to go on with");
            last.push(' ');
            last.push_str(body);
        } else {
            // The first block has a label only where its author gave it one.
            found.blocks += u64::from(begins);
            statements.push(body.to_owned());
        }
        begins = false;
    }
    for (number, &(start, head)) in functions.iter().enumerate() {
        let end = functions.get(number + 1).map_or(statements.len(), |next| next.0);
        found.function(number, head, &statements[start..end], &types);
    }
    found.uses.sort_unstable();
    found
}

const ORDERS: [&str; 6] = ["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"];

impl Text {
    fn function(&mut self, number: usize, head: &str, statements: &[String], types: &HashSet<&str>) {
        let mut known: HashMap<&str, i64> = HashMap::new();
        let arguments =
            pieces(head).into_iter().filter(|piece| piece.starts_with('%') && !types.contains(piece));
        known.extend(arguments.zip((1..).map(|number: i64| -number)));
        for (number, statement) in statements.iter().enumerate() {
            if let Some((name, _)) = statement.split_once(" = ").filter(|(name, _)| name.starts_with('%')) {
                assert!(known.insert(name, number as i64).is_none(), "{name} twice");
            }
        }
        for (place, statement) in statements.iter().enumerate() {
            for name in self.statement(statement, types) {
                let used = known.get(name).unwrap_or_else(|| panic!("{name} in {statement}"));
                self.uses.push((number, place, *used));
            }
        }
    }

    /// Counts a statement; what it uses.
    fn statement<'s>(&mut self, statement: &'s str, types: &HashSet<&str>) -> Vec<&'s str> {
        let statement = without_metadata(statement);
        let body = match statement.split_once(" = ") {
            Some((name, body)) if name.starts_with('%') => body,
            _ => statement,
        };
        let mut words = body.split(' ').filter(|word| !matches!(*word, "tail" | "musttail" | "notail"));
        let operation = words.next().expect("an operation");
        *self.operations.entry(operation.to_owned()).or_default() += 1;
        let words: Vec<&str> = words.map(|word| word.trim_end_matches(',')).collect();
        match operation {
            "phi" => self.phi_inputs += body.matches(" ]").count() as u64,
            "call" | "invoke" | "callbr" => self.arguments += arguments(body, types),
            "switch" => self.cases += words.iter().filter(|&&word| word == "label").count() as u64 - 1,
            "landingpad" => {
                self.clauses +=
                    words.iter().filter(|&&word| word == "catch" || word == "filter").count() as u64;
            }
            "icmp" | "fcmp" => {
                let flags = ["samesign", "fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];
                let predicate = words.iter().find(|word| !flags.contains(word)).expect("a predicate");
                *self.predicates.entry(format!("{operation} {predicate}")).or_default() += 1;
            }
            _ => {}
        }
        if matches!(operation, "load" | "store" | "atomicrmw" | "cmpxchg" | "fence") {
            self.volatile += u64::from(words.contains(&"volatile"));
            for word in words.iter().filter(|word| ORDERS.contains(word)) {
                *self.orders.entry((*word).to_owned()).or_default() += 1;
            }
        }
        uses(body, operation == "phi", types)
    }
}

/// The pieces of a statement: names with what stands before them, quoted text, single characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let named = matches!(first, '%' | '@' | '!');
        let after = if named { &rest[1..] } else { rest };
        let length = if let Some(quoted) = after.strip_prefix('"') {
            2 + quoted.find('"').expect("text in quotes ends") + usize::from(named)
        } else if named {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._$-".contains(letter);
            1 + after.find(|letter| !is_name(letter)).unwrap_or(after.len())
        } else {
            first.len_utf8()
        };
        pieces.push(&rest[..length]);
        rest = &rest[length..];
    }
    pieces
}

fn without_metadata(statement: &str) -> &str {
    let mut at = 0;
    let pieces = pieces(statement);
    for (number, piece) in pieces.iter().enumerate() {
        if *piece == "," && pieces.get(number + 2).is_some_and(|next| next.starts_with('!')) {
            return &statement[..at];
        }
        at += piece.len();
    }
    statement
}

/// Which results and arguments are used.
fn uses<'s>(body: &'s str, phi: bool, types: &HashSet<&str>) -> Vec<&'s str> {
    let pieces = pieces(body);
    let mut used = Vec::new();
    let mut before = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if piece.starts_with('%') && !types.contains(piece) {
            let label =
                before.ends_with("label ") || before.contains("blockaddress(") && !before.ends_with(')');
            let origin = phi && pieces[number + 1..].first_chunk() == Some(&[" ", "]"]);
            used.extend((!label && !origin).then_some(*piece));
        }
        before.push_str(piece);
    }
    used
}

/// How many arguments a call has.
fn arguments(body: &str, types: &HashSet<&str>) -> u64 {
    let pieces = pieces(body);
    let callee = |number: &usize| {
        let piece = pieces[*number];
        let named = (piece.starts_with('@') || piece.starts_with('%')) && !types.contains(piece);
        let assembly = piece.starts_with('"') && body.contains(" asm ");
        (named || assembly) && pieces.get(number + 1) == Some(&"(")
    };
    let start = (0..pieces.len()).find(callee).unwrap_or_else(|| panic!("no callee: {body}")) + 2;
    let (mut depth, mut count, mut empty) = (0, 1, true);
    for piece in &pieces[start..] {
        match *piece {
            ")" if depth == 0 => break,
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            "," if depth == 0 => count += 1,
            _ => {}
        }
        empty = false;
    }
    if empty { 0 } else { count }
}
