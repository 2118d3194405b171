"""The package as users have it, against the command line where that is there."""

import gc
import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import reweave

ROOT = Path(__file__).resolve().parents[3]
BANK = ROOT / "examples" / "bank.std"
RACE = ROOT / "examples" / "bank-race.json"

#: The command, where it was built.
COMMAND = os.environ.get("REWEAVE")


@pytest.fixture
def bank() -> reweave.Trace:
    return reweave.load(BANK)


def test_columns_are_those_of_the_file(bank: reweave.Trace) -> None:
    lines = [line for line in BANK.read_text().splitlines() if line and not line.startswith("#")]
    assert len(bank) == len(lines) == len(bank.kinds) == len(bank.threads) == len(bank.sites)
    threads, sites = bank.names("threads"), bank.names("sites")
    assert [threads[number] for number in bank.threads] == [line.split("|")[0] for line in lines]
    assert [sites[number] for number in bank.sites] == [line.split("|")[2] for line in lines]
    words = {"w": "write", "r": "read", "acq": "acquire", "rel": "release", "fork": "fork", "join": "join"}
    expected = [words[line.split("|")[1].split("(")[0]] for line in lines]
    assert [reweave.OPERATIONS[kind] for kind in bank.kinds] == expected
    accesses = np.isin(bank.kinds, [reweave.OPERATIONS.index("read"), reweave.OPERATIONS.index("write")])
    variables = bank.names("variables")
    assert {variables[number] for number in bank.targets[accesses]} == {"balance", "audits"}


def test_columns_are_not_copied_and_outlive_the_trace() -> None:
    trace = reweave.load(BANK)
    first, second = trace.targets, trace.targets
    assert first.ctypes.data == second.ctypes.data
    assert not first.flags.owndata and not first.flags.writeable
    with pytest.raises(ValueError):
        first[0] = 1
    before = first.tolist()
    del trace, second
    gc.collect()
    assert first.tolist() == before


def test_more_than_256_threads_take_wider_numbers(tmp_path: Path) -> None:
    file = tmp_path / "many.std"
    file.write_text("".join(f"t{number}|w(x{number})|s{number}\n" for number in range(300)))
    trace = reweave.load(file)
    assert trace.threads.dtype == np.uint32 and trace.threads.tolist() == list(range(300))


def test_empty_traces_have_empty_columns(tmp_path: Path) -> None:
    file = tmp_path / "empty.std"
    file.write_text("# nothing happened\n")
    trace = reweave.load(file)
    assert len(trace) == 0 and trace.kinds.tolist() == [] and len(trace.predict()) == 0


def test_findings_have_types_and_witnesses_that_hold(bank: reweave.Trace) -> None:
    prediction = bank.predict()
    assert not prediction.partial and prediction.undecided == ()
    (race,) = [finding for finding in prediction if finding.kind == "race"]
    assert race.target == "balance" and set(race.sites) == {"bank.c:22", "bank.c:34"}
    assert race.level == "error" and race.fingerprint in str(race)
    assert "balance" in race.title
    bank.check(race.witness)
    bank.check(reweave.Witness.from_json(race.witness.to_json()))


@pytest.mark.skipif(not COMMAND, reason="REWEAVE does not name the command")
@pytest.mark.parametrize("example", ["bank.std", "pool.std"])
def test_findings_are_those_of_the_command(example: str) -> None:
    path = ROOT / "examples" / example
    ran = subprocess.run([COMMAND, "predict", path, "--json", "-", "--no-source"], capture_output=True, check=False)
    theirs = json.loads(ran.stdout)
    ours = reweave.load(path).predict()
    for key in ("findings", "undecided", "counts", "model", "trace"):
        assert ours.raw[key] == theirs[key], key


def test_runs_of_events_are_spelled_out() -> None:
    text = '{"model": "rf", "witness": [7, [2, 5], 9], "claim": {"coenabled": [0]}}'
    assert reweave.Witness.from_json(text).tail == (7, 2, 3, 4, 5, 9)
    with pytest.raises(ValueError, match="not a witness file"):
        reweave.Witness.from_json(text.replace("[2, 5]", "[2, 5, 6]"))


@pytest.mark.skipif(not COMMAND, reason="REWEAVE does not name the command")
def test_the_command_accepts_our_witnesses(bank: reweave.Trace, tmp_path: Path) -> None:
    answer = bank.query(coenabled=[5, 10])
    assert answer.witness is not None
    file = tmp_path / "witness.json"
    file.write_text(answer.witness.to_json())
    assert subprocess.run([COMMAND, "check", BANK, file], capture_output=True, check=False).returncode == 0


def test_questions_are_answered_with_a_witness_or_a_reason(bank: reweave.Trace) -> None:
    yes = bank.query(coenabled=np.array([5, 10]))
    assert yes and yes.witness is not None and "feasible" in str(yes)
    bank.check(yes.witness)
    no = bank.query(sequence=[5, 0])
    assert not no and no.witness is None and no.refutation
    unknown = bank.query(coenabled=[5, 10], work=0)
    assert unknown.verdict == "unknown"
    with pytest.raises(ValueError, match="not known"):
        bool(unknown)


def test_wrong_witnesses_are_rejected_with_the_step(bank: reweave.Trace) -> None:
    witness = reweave.Witness.from_json(RACE.read_text())
    bank.check(witness)
    with pytest.raises(reweave.Rejected, match="step"):
        bank.check(reweave.Witness(witness.model, 0, tuple(reversed(witness.tail)) + (3,), witness.claim))


def test_wrong_questions_say_what_is_wrong(bank: reweave.Trace) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        bank.query()
    with pytest.raises(ValueError, match="exactly one"):
        bank.query(coenabled=[1, 2], deadlock=[1, 2])
    with pytest.raises(ValueError, match="99"):
        bank.query(coenabled=[1, 99])
    with pytest.raises(ValueError, match="no model"):
        bank.predict(model="nonsense")
    with pytest.raises(ValueError, match="needs what the trace does not carry"):
        bank.predict(model="branch")
    with pytest.raises(ValueError, match="there is no kind"):
        bank.predict(kinds=["wild"])
    with pytest.raises(ValueError):
        bank.predict(time=-1.0)
    with pytest.raises(ValueError, match="not a witness file"):
        reweave.Witness.from_json("{}")


def test_files_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        reweave.load(tmp_path / "missing.std")
    wrong = tmp_path / "wrong.std"
    wrong.write_text("t1|acq(l)|s\nt2|acq(l)|s\n")
    with pytest.raises(ValueError, match=r"wrong\.std:2"):
        reweave.load(wrong)
    trace = reweave.load(wrong, repair=True)
    assert trace.repairs and trace.repairs[0][1] == 1


def test_notebooks_show_the_page(bank: reweave.Trace) -> None:
    prediction = bank.predict()
    page = prediction.to_html()
    assert page.startswith("<!doctype html>") and "balance" in page
    shown = prediction._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown


def test_a_search_can_be_interrupted_and_limited(tmp_path: Path) -> None:
    file = tmp_path / "long.std"
    threads = 6
    with file.open("w") as out:
        for step in range(3000):
            thread = step % threads
            out.write(f"t{thread}|acq(l{step % 5})|a{step}\nt{thread}|w(x{step % 7})|b{step}\n")
            out.write(f"t{thread}|r(x{(step * 3) % 7})|c{step}\nt{thread}|rel(l{step % 5})|d{step}\n")
    trace = reweave.load(file)
    assert trace.predict(all=True, time=0.05).partial
    # A program that was started in the background ignores this signal, and Python then has no handler for it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        trace.predict(all=True, time=60)
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_the_example_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "guide" / "python.md").read_text()
    example = page.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(ROOT)
    exec(compile(example, "python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "race ('bank.c:22', 'bank.c:34')" in printed and "feasible in the model" in printed
