# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A stranger's first command: ./quickstart.sh in a fresh clone."""
from harness import *

if not (SOURCE / ".git").exists():
    skip("not a git checkout")

with Folder() as f:
    subprocess.run(["git", "clone", "-q", str(SOURCE), "clone"], cwd=f.path,
                   check=True)
    run = subprocess.run(["./quickstart.sh"], cwd=f.path / "clone",
                         capture_output=True, text=True, check=False,
                         timeout=1200)
    equal(run.returncode, 0, f"exit code\n{run.stdout}\n{run.stderr}")
    contains(run.stdout, "host_memory_copy", "report")
    contains(run.stdout, "GB/s", "report")
    if not pathlib.Path("/dev/nvidia0").exists():
        contains(run.stdout, "no_device", "report without a GPU")

finish()
