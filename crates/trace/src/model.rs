//! The models: what a thread may still do once it has read something new.

use std::fmt;
use std::str::FromStr;

use crate::Capabilities;

/// How much a schedule may deviate from the data flow of the observed run; see `docs/semantics.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Data flow is ignored: candidates only, sound for nothing.
    Sync,
    /// A tainted thread does nothing more.
    Rf,
    /// As `Rf`, but a read is also clean when it observes the same value from an untainted write.
    Value,
    /// A tainted thread runs on up to the next operation that may depend on what it read.
    Branch,
    /// `Branch` and `Value` together.
    BranchValue,
    /// A thread runs any event none of whose needed reads was unclean.
    Dep,
    /// `Dep` and `Value` together.
    DepValue,
}

impl Model {
    /// Every model, from strict to permissive but for `Sync`, which comes first.
    pub const ALL: [Model; 7] = [
        Model::Sync,
        Model::Rf,
        Model::Value,
        Model::Branch,
        Model::BranchValue,
        Model::Dep,
        Model::DepValue,
    ];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sync => "sync",
            Model::Rf => "rf",
            Model::Value => "value",
            Model::Branch => "branch",
            Model::BranchValue => "branch+value",
            Model::Dep => "dep",
            Model::DepValue => "dep+value",
        }
    }

    /// Whether an equal value is as good as the observed one.
    pub fn by_value(self) -> bool {
        matches!(self, Model::Value | Model::BranchValue | Model::DepValue)
    }

    /// Whether taint is kept per read, with a table of dependences.
    pub fn by_dependence(self) -> bool {
        matches!(self, Model::Dep | Model::DepValue)
    }

    /// What a trace must carry for the model to be sound on it.
    pub fn needs(self) -> Capabilities {
        Capabilities {
            values: self.by_value(),
            branches: matches!(self, Model::Branch | Model::BranchValue),
            dependences: self.by_dependence(),
            approximate: false,
        }
    }

    /// The models that are sound wherever this one is and accept no schedule that it refuses, from strict to permissive.
    pub fn stricter(self) -> impl Iterator<Item = Model> {
        let needs = self.needs();
        let stricter = move |model: &Model| {
            *model != self && *model != Model::Sync && self != Model::Sync && needs.include(model.needs())
        };
        Model::ALL.into_iter().filter(stricter)
    }

    /// The most permissive model that `capabilities` make sound.
    pub fn auto(capabilities: Capabilities) -> Model {
        let sound = |model: &&Model| **model != Model::Sync && capabilities.include(model.needs());
        *Model::ALL.iter().rev().find(sound).unwrap_or(&Model::Rf)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no model of that name.
#[derive(Debug, thiserror::Error)]
#[error("there is no model `{0}`: expected sync, rf, value, branch, branch+value, dep or dep+value")]
pub struct ParseModelError(String);

impl FromStr for Model {
    type Err = ParseModelError;

    fn from_str(name: &str) -> Result<Model, ParseModelError> {
        Model::ALL
            .into_iter()
            .find(|model| model.name() == name)
            .ok_or_else(|| ParseModelError(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stricter_models_need_no_more() {
        let stricter = |model: Model| model.stricter().map(Model::name).collect::<Vec<_>>().join(" ");
        assert_eq!(stricter(Model::Sync), "");
        assert_eq!(stricter(Model::Rf), "");
        assert_eq!(stricter(Model::Value), "rf");
        assert_eq!(stricter(Model::Branch), "rf");
        assert_eq!(stricter(Model::BranchValue), "rf value branch");
        assert_eq!(stricter(Model::DepValue), "rf value dep");
    }

    #[test]
    fn auto_takes_the_most_permissive_sound_model() {
        let auto = |names: &str| {
            let mut capabilities = Capabilities::default();
            assert!(names.split_whitespace().all(|name| capabilities.add(name)));
            Model::auto(capabilities).name()
        };
        assert_eq!(auto(""), "rf");
        assert_eq!(auto("values"), "value");
        assert_eq!(auto("branches"), "branch");
        assert_eq!(auto("branches values"), "branch+value");
        assert_eq!(auto("dependences branches"), "dep");
        assert_eq!(auto("dependences branches values"), "dep+value");
        assert!(Model::ALL.into_iter().all(|model| model.name().parse::<Model>().is_ok_and(|m| m == model)));
        assert!("Rf".parse::<Model>().is_err());
    }
}
