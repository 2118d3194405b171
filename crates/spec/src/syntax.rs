//! A specification, taken apart: types with their models, conditions, orders and access points.

use crate::Value;

/// A file of specifications.
#[derive(Clone, Default, Debug)]
pub struct Spec {
    /// Its types, as written.
    pub types: Vec<Type>,
    /// Which objects are of which type, by a pattern of their names.
    pub binds: Vec<Bind>,
}

/// Objects whose names match a pattern, and their type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bind {
    /// The name; `*` stands for any text.
    pub pattern: String,
    /// The name of the type.
    pub of: String,
}

/// A type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Whether its methods may be called by several threads at once. Else the caller locks.
    pub internal: bool,
    /// The variables of its abstract state.
    pub states: Vec<State>,
    /// Its methods.
    pub methods: Vec<Method>,
    /// Its conditions.
    pub commutes: Vec<Commute>,
    /// The pairs whose order matters most.
    pub orders: Vec<Order>,
    /// The access points of its calls.
    pub touches: Vec<Touch>,
    /// The line of its head.
    pub line: u32,
}

/// A variable of the abstract state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: String,
    /// What it can be at first.
    pub initial: Vec<Value>,
}

/// A method with its model.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The name of its result, unless it has none.
    pub result: Option<String>,
    /// It waits until this holds.
    pub when: Option<Expr>,
    /// It fails unless this holds.
    pub needs: Option<Expr>,
    /// What it does.
    pub body: Vec<Statement>,
    /// How many slots its frame has: states, parameters, result, locals.
    pub slots: usize,
    /// Its line.
    pub line: u32,
}

impl Method {
    /// Whether it can be called in every state.
    pub fn is_total(&self) -> bool {
        self.when.is_none() && self.needs.is_none()
    }

    /// How many values describe a call of it: the arguments and the result.
    pub fn arity(&self) -> usize {
        self.parameters.len() + usize::from(self.result.is_some())
    }
}

/// A parameter, with the values that the check tries.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The values that the check tries.
    pub tried: Vec<Value>,
}

/// A condition under which calls of two methods commute. In its frame are the values of the first call, arguments and result,
/// then those of the second.
#[derive(Clone, Debug)]
pub struct Commute {
    /// The two methods, by number.
    pub methods: [usize; 2],
    /// The condition.
    pub condition: Expr,
    /// Whether calls commute *only* if it holds, too.
    pub exact: bool,
    /// Its line.
    pub line: u32,
}

/// A pair of calls whose reversal is a bug.
#[derive(Clone, Debug)]
pub struct Order {
    /// The methods: this one has to come before that one.
    pub methods: [usize; 2],
    /// Which calls are meant; the frame is that of a condition.
    pub condition: Option<Expr>,
    /// What comes of the reversal.
    pub tier: Tier,
    /// What to call it.
    pub message: String,
    /// Its line.
    pub line: u32,
}

/// What comes of a reversed pair of calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// The call that comes too late fails.
    Fails,
    /// Something is lost: a result, a wake-up, an element.
    Lost,
}

impl Tier {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Fails => "fails",
            Tier::Lost => "lost",
        }
    }
}

/// Access points of calls of one method.
#[derive(Clone, Debug)]
pub struct Touch {
    /// The method, by number.
    pub method: usize,
    /// Which calls of it; in the frame are the arguments and the result.
    pub condition: Option<Expr>,
    /// What such a call touches.
    pub points: Vec<Point>,
    /// Its line.
    pub line: u32,
}

/// One access point.
#[derive(Clone, Debug)]
pub struct Point {
    /// How it is touched.
    pub mode: Mode,
    /// The cell: a name, and a value where there is a cell per value.
    pub cell: String,
    /// The value of a cell; in the frame are the arguments and the result.
    pub at: Option<Expr>,
}

/// The modes of multi-granularity locking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Intention to share: something inside is read.
    IS,
    /// Intention to exclude: something inside is changed.
    IX,
    /// Shared: all of it is read.
    S,
    /// Exclusive: all of it may change.
    X,
}

impl Mode {
    /// Whether two touches of one cell in these modes do not conflict.
    pub fn fits(self, other: Mode) -> bool {
        use Mode::{IS, IX, S};
        matches!((self, other), (IS, IS | IX | S) | (IX, IS | IX) | (S, IS | S))
    }
}

/// An expression over the slots of a frame.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A value.
    Const(Value),
    /// A slot.
    Slot(usize),
    /// Negation.
    Not(Box<Expr>),
    /// Two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// What a map has for a key, or a sequence at an index.
    Index(Box<Expr>, Box<Expr>),
    /// A function.
    Apply(Function, Vec<Expr>),
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Binary {
    And,
    Or,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
}

/// Functions of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// How many elements.
    Len,
    /// Whether an element, or a key, is there.
    Has,
    /// A set with an element more.
    Insert,
    /// A set without an element, a map without a key.
    Remove,
    /// A sequence with an element more at its end.
    Push,
    /// The first element of a sequence, or nil.
    First,
    /// The last element of a sequence, or nil.
    Last,
    /// A sequence without its first element.
    Rest,
    /// A sequence without its last element.
    Front,
    /// A map in which every value equal to the second argument became the third.
    Replace,
    /// The smaller of two numbers.
    Min,
    /// The larger of two numbers.
    Max,
    /// The second argument where the first is true, else the third.
    If,
}

impl Function {
    /// Every function with its name and number of arguments.
    pub(crate) const ALL: [(&'static str, Function, usize); 13] = [
        ("len", Function::Len, 1),
        ("has", Function::Has, 2),
        ("insert", Function::Insert, 2),
        ("remove", Function::Remove, 2),
        ("push", Function::Push, 2),
        ("first", Function::First, 1),
        ("last", Function::Last, 1),
        ("rest", Function::Rest, 1),
        ("front", Function::Front, 1),
        ("replace", Function::Replace, 3),
        ("min", Function::Min, 2),
        ("max", Function::Max, 2),
        ("choose", Function::If, 3),
    ];
}

/// A step of a model.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// A slot gets a value.
    Set(usize, Expr),
    /// A key of a map gets a value; nil removes it.
    SetKey(usize, Expr, Expr),
    /// A collection loses everything.
    Clear(usize),
    /// Either of two.
    If(Expr, Vec<Statement>, Vec<Statement>),
}
