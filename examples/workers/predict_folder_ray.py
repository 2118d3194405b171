"""Predicts on all traces of a folder with Ray: one task a trace, on as many machines as the cluster has.

    pip install ray
    python predict_folder_ray.py FOLDER OUT.json          REWEAVE names the command

The folder has to be there on every machine. Ray runs a task again whose worker died. The result is what
`reweave predict FOLDER --json OUT.json` writes, but for the seconds.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ray

REWEAVE = os.environ.get("REWEAVE", "reweave")
ENDINGS = (".rw", ".std", ".std.zst", ".data")


@ray.remote(max_retries=3, num_cpus=1)
def predict(trace: str) -> bytes:
    """The document of one trace."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "part.json"
        command = [REWEAVE, "--quiet", "--jobs", "1", "predict", trace, "--json", str(out)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        # 0: nothing found, 1: findings, 3: a limit was reached. A command that was killed takes its worker along, which Ray replaces.
        if ran.returncode < 0:
            os._exit(1)
        if ran.returncode not in (0, 1, 3):
            raise RuntimeError(f"{trace}: {ran.stderr}")
        return out.read_bytes()


def main() -> int:
    folder, out = Path(sys.argv[1]), sys.argv[2]
    traces = sorted(
        (path for path in folder.iterdir() if path.name.endswith(ENDINGS)), key=lambda path: os.fsencode(path.name)
    )
    ray.init(log_to_driver=False, include_dashboard=False)
    documents = ray.get([predict.remote(str(trace)) for trace in traces])
    with tempfile.TemporaryDirectory() as parts:
        files = []
        for number, document in enumerate(documents):
            files.append(Path(parts) / f"{number}.json")
            files[-1].write_bytes(document)
        return subprocess.run([REWEAVE, "--quiet", "merge", *files, "--output", out], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
