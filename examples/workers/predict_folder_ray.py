"""Predicts on all traces of a folder with Ray: one task a trace and shard, on as many machines as the cluster has.

    pip install ray
    python predict_folder_ray.py FOLDER OUT.json [SHARDS]     REWEAVE names the command, REWEAVE_OPTIONS gives options

The folder has to be there on every machine. Ray runs a task again whose worker died. The result is what
`reweave predict FOLDER --json OUT.json` writes, but for the seconds.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ray

REWEAVE = os.environ.get("REWEAVE", "reweave")
OPTIONS = os.environ.get("REWEAVE_OPTIONS", "").split()
# Whoever says which format it is means every file.
FORMAT_IS_GIVEN = any(option.split("=")[0] == "--format" for option in OPTIONS)
TRACE = re.compile(r".*\.(std|data|rr|csv|speedygo|rw)(\.(zst|gz))*", re.IGNORECASE | re.DOTALL)


def traces_in(folder: Path) -> list[Path]:
    """The traces that `reweave predict FOLDER` takes, in its order: of all formats, in folders below too, nothing that is hidden."""
    found = []
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            found += traces_in(path)
        elif path.is_file() and (FORMAT_IS_GIVEN or TRACE.fullmatch(path.name)):
            found.append(path)
    return found


@ray.remote(max_retries=3, num_cpus=1)
def predict(trace: str, shard: str) -> bytes:
    """The document of one trace, or of one shard of it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "part.json"
        command = [REWEAVE, "--quiet", "--jobs", "1", "predict", trace, "--json", str(out), *OPTIONS]
        if shard != "1/1":
            command += ["--shard", shard]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        # 0: nothing found, 1: findings, 3: a limit was reached. A command that was killed takes its worker along, which Ray replaces.
        if ran.returncode < 0:
            os._exit(1)
        if ran.returncode not in (0, 1, 3):
            raise RuntimeError(f"{trace}, shard {shard}: {ran.stderr}")
        return out.read_bytes()


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    folder, out = Path(sys.argv[1]), sys.argv[2]
    shards = int(sys.argv[3]) if len(sys.argv) == 4 else 1
    traces = traces_in(folder)
    if not traces:
        print(f"error: {folder} has no trace in it", file=sys.stderr)
        return 2
    ray.init(log_to_driver=False, include_dashboard=False)
    tasks = [(str(trace), f"{shard}/{shards}") for trace in traces for shard in range(1, shards + 1)]
    documents = ray.get([predict.remote(*task) for task in tasks])
    with tempfile.TemporaryDirectory() as parts:
        files = []
        for number, document in enumerate(documents):
            files.append(Path(parts) / f"{number}.json")
            files[-1].write_bytes(document)
        return subprocess.run([REWEAVE, "--quiet", "merge", *files, "--output", out], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
