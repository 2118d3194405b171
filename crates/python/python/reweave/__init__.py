"""Predicts concurrency bugs from one recorded run.

>>> import reweave
>>> trace = reweave.load("examples/bank.std")
>>> for finding in trace.predict():
...     print(finding)
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweave import _reweave

__version__: str = _reweave.__version__
#: The name of each number in the column ``kinds``.
OPERATIONS: tuple[str, ...] = tuple(_reweave.OPERATIONS)
#: The names of the models, as ``reweave explain models`` describes them.
MODELS: tuple[str, ...] = tuple(_reweave.MODELS)

__all__ = [
    "MODELS",
    "OPERATIONS",
    "Answer",
    "Finding",
    "Prediction",
    "Rejected",
    "Trace",
    "Undecided",
    "Witness",
    "load",
]


def _events(runs: list[Any]) -> tuple[int, ...]:
    """The events of a schedule in a document, in which a pair stands for all ids from its first to its last."""
    events: list[int] = []
    for run in runs:
        first, last = run if isinstance(run, list) else (run, run)
        events.extend(range(first, last + 1))
    return tuple(events)


@dataclass(frozen=True)
class Witness:
    """A schedule: the trace's own first ``prefix`` positions, then the events in ``tail``."""

    model: str
    prefix: int
    tail: tuple[int, ...]
    #: What it shows, such as ``{"coenabled": [6, 9]}``.
    claim: dict[str, Any]

    def to_json(self) -> str:
        """The witness file, for ``reweave check`` and ``reweave replay``."""
        return json.dumps(
            {
                "model": self.model,
                "witness_prefix": self.prefix,
                "witness": list(self.tail),
                "claim": self.claim,
            }
        )

    @staticmethod
    def from_json(text: str) -> Witness:
        """Reads a witness file."""
        try:
            raw = json.loads(text)
            return Witness(raw["model"], raw.get("witness_prefix", 0), _events(raw["witness"]), raw["claim"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a witness file: {error!r}") from error


@dataclass(frozen=True)
class Finding:
    """A bug that another schedule of the same run shows."""

    kind: str
    pattern: str
    fingerprint: str
    level: str
    target: str
    events: tuple[int, ...]
    sites: tuple[str, ...]
    title: str
    summary: str
    instances: int
    witness: Witness
    #: The finding as in ``reweave predict --json``.
    raw: dict[str, Any] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.fingerprint}: {self.summary or self.title}"


@dataclass(frozen=True)
class Undecided:
    """A candidate that was not settled, and why."""

    kind: str
    events: tuple[int, ...]
    reason: str


class Prediction(Sequence[Finding]):
    """What was found in a trace: a sequence of findings. Notebooks show it as the page of ``--html``."""

    def __init__(self, document: str) -> None:
        self._document = document
        #: The document of ``reweave predict --json``.
        self.raw: dict[str, Any] = json.loads(document)
        self.model: str = self.raw["model"]
        self.findings: tuple[Finding, ...] = tuple(_finding(raw, self.model) for raw in self.raw["findings"])
        self.undecided: tuple[Undecided, ...] = tuple(
            Undecided(raw["kind"], tuple(raw["events"]), raw["reason"]) for raw in self.raw["undecided"]
        )
        self.counts: dict[str, int] = self.raw["counts"]
        #: Whether a limit ended the search before its end.
        self.partial: bool = bool(self.raw.get("partial", False))

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        end = ", partial" if self.partial else ""
        return f"<{len(self)} findings, {len(self.undecided)} undecided, model {self.model}{end}>"

    def to_json(self) -> str:
        """The document of ``reweave predict --json``."""
        return self._document

    def to_html(self) -> str:
        """The page of ``reweave predict --html``: one file that needs nothing else."""
        return _reweave.page(self._document)

    def _repr_html_(self) -> str:
        # A page of its own in a frame that may run its script and nothing more: it cannot touch the notebook.
        return (
            f'<iframe srcdoc="{escape(self.to_html())}" sandbox="allow-scripts" title="Findings of Reweave" '
            'style="width: 100%; height: 640px; border: 1px solid #8888"></iframe>'
        )


@dataclass(frozen=True)
class Answer:
    """The answer to one question. It is true where some schedule shows it; what is not known is an error to ask."""

    #: ``feasible``, ``infeasible`` or ``unknown``.
    verdict: str
    model: str
    witness: Witness | None
    #: Why not, where it is infeasible.
    refutation: tuple[dict[str, Any], ...]
    #: The witness in columns, a thread each, or the reason why there is none.
    text: str = field(repr=False)
    #: The document of ``reweave query --json``.
    raw: dict[str, Any] = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        if self.verdict == "unknown":
            raise ValueError("the answer is not known: look at .verdict, or give more work or time")
        return self.verdict == "feasible"

    def __str__(self) -> str:
        return f"{self.verdict} in the model {self.model}\n\n{self.text}"


class Rejected(ValueError):
    """A witness that does not show what it claims."""


class Trace:
    """One observed run. It never changes, and neither do its columns."""

    def __init__(self, path: str, core: _reweave._Trace) -> None:
        self.path = path
        self._core = core

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"<trace {self.path}: {len(self)} events, {len(self.names('threads'))} threads>"

    def _column(self, name: str) -> NDArray[Any]:
        column = self._core.column(name)
        if len(column) == 0:
            return np.empty(0, dtype=np.dtype(column.format))
        return np.frombuffer(column, dtype=np.dtype(column.format))

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """What each event does: a number whose name is in ``OPERATIONS``. Not a copy; read-only."""
        return self._column("kinds")

    @property
    def threads(self) -> NDArray[Any]:
        """The thread of each event: a number whose name is in ``names("threads")``. Not a copy; read-only."""
        return self._column("threads")

    @property
    def targets(self) -> NDArray[np.uint32]:
        """What each event is on: a number in the space of its kind (variables, locks, …). Not a copy; read-only."""
        return self._column("targets")

    @property
    def sites(self) -> NDArray[np.uint32]:
        """Where each event is in the program: a number whose name is in ``names("sites")``. Not a copy; read-only."""
        return self._column("sites")

    def names(self, of: str) -> list[str]:
        """The names of the threads, variables, locks, conditions, regions, calls or sites, by number."""
        return self._core.names(of)

    @property
    def capabilities(self) -> list[str]:
        """What the recorder promises: values, branches, dependences."""
        return self._core.capabilities

    @property
    def model(self) -> str:
        """The most permissive model that is sound on this trace."""
        return self._core.model

    @property
    def notices(self) -> list[str]:
        """What the reader of the file should know."""
        return self._core.notices

    @property
    def repairs(self) -> list[tuple[str, int]]:
        """What ``repair=True`` mended, and how often."""
        return self._core.repairs

    def predict(
        self,
        *,
        kinds: Iterable[str] = (),
        model: str | None = None,
        all: bool = False,
        atomicity: str = "likely",
        work: int | None = None,
        time: float | None = 60.0,
        jobs: int = 0,
    ) -> Prediction:
        """Finds the bugs that this run could have had; the options are those of ``reweave predict``."""
        document = self._core.predict(
            kinds=list(kinds), model=model, all=all, atomicity=atomicity, work=work, time=time, jobs=jobs
        )
        return Prediction(document)

    def query(
        self,
        *,
        sequence: Sequence[int] | None = None,
        before: Sequence[tuple[int, int]] | None = None,
        coenabled: Sequence[int] | None = None,
        deadlock: Sequence[int] | None = None,
        adjacent: Sequence[int] = (),
        model: str | None = None,
        work: int | None = None,
        time: float | None = None,
    ) -> Answer:
        """Decides one question: could these events run in this order, at once, or block each other?"""
        asked = {"sequence": sequence, "before": before, "coenabled": coenabled, "deadlock": deadlock}
        given: dict[str, Any] = {name: _numbers(events) for name, events in asked.items() if events is not None}
        if len(given) != 1:
            raise ValueError("ask for exactly one of sequence, before, coenabled and deadlock")
        if adjacent:
            if sequence is None and before is None:
                raise ValueError("only sequence and before take adjacent")
            given["adjacent"] = _numbers(adjacent)
        document, text = self._core.query(json.dumps(given), model, work, time)
        raw = json.loads(document)
        witness = None
        if raw["verdict"] == "feasible":
            witness = _witness(raw, raw["model"])
        return Answer(raw["verdict"], raw["model"], witness, tuple(raw.get("refutation") or ()), text, raw)

    def check(self, witness: Witness) -> None:
        """Runs the machine of the law on a witness; ``Rejected`` says the first step that fails."""
        claim = json.dumps(witness.claim)
        reason = self._core.check(witness.model, witness.prefix, list(witness.tail), claim)
        if reason is not None:
            raise Rejected(reason)


def load(
    path: str | os.PathLike[str], *, format: str | None = None, repair: bool = False, spec: str = ""
) -> Trace:
    """Loads a trace of any format that Reweave reads. ``spec`` is the text of commutativity specifications."""
    path = os.fspath(path)
    return Trace(path, _reweave._Trace.load(path, format, repair, spec))


def _numbers(values: Any) -> Any:
    """Plain numbers, whatever NumPy made of them."""
    return [_numbers(value) if np.ndim(value) else int(value) for value in values]


def _witness(raw: dict[str, Any], model: str) -> Witness:
    return Witness(raw.get("model") or model, raw["witness_prefix"], _events(raw["witness"]), raw["claim"])


def _finding(raw: dict[str, Any], model: str) -> Finding:
    view = raw.get("view") or {}
    return Finding(
        kind=raw["kind"],
        pattern=raw["pattern"],
        fingerprint=raw["fingerprint"],
        level=(raw.get("severity") or {}).get("level", "error"),
        target=raw["target"],
        events=tuple(raw["events"]),
        sites=tuple(raw["sites"]),
        title=view.get("title", ""),
        summary=view.get("summary", ""),
        instances=raw["instances"],
        witness=_witness(raw, model),
        raw=raw,
    )
