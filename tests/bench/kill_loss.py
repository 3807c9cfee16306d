#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What SIGKILL of the host costs, as JSON, on a quiet machine:

    tests/bench/kill_loss.py [BUILD_DIR] [ROUNDS]

nvbw-host -v says each cell as soon as it has it. Those said and not in the
journal are lost and will be measured again; how long before the kill the first
of them was said is the age of the loss. The journal promises 250 ms at most.
Exit 0, or 1 if a loss was older."""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
PROMISED_MS = 250.0
PLAN = """
name = "broken off";
defaults = { buffer_size = "8 MiB"; mode = "fixed"; samples = 5; copies = 8; };
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 4000; }; },
           { plugin = "hostmem"; } );
repeat = 8;
"""


def listen(stream, said):
    """When each cell was said, in nanoseconds of the monotonic clock."""
    for line in stream:
        if ": measured " in line:
            said.append(time.monotonic_ns())


def settled(folder):
    """How many cells the journal holds; a torn last line is none."""
    path = folder / "journal.ndjson"
    if not path.exists():
        return 0
    text = path.read_bytes()
    lines = text[:text.rfind(b"\n") + 1].splitlines()
    return sum(json.loads(line)["type"] == "cell" for line in lines)


def one_round(plan, folder, patience):
    """(cells said, cells in the journal, age of the loss in ms or None)."""
    host = subprocess.Popen(
        [BUILD / "bin" / "nvbw-host", "-v", "-c", plan, "--run-dir", folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    said = []
    listener = threading.Thread(target=listen, args=(host.stderr, said))
    listener.start()
    time.sleep(patience)
    killed_ns = time.monotonic_ns()
    host.send_signal(signal.SIGKILL)
    host.wait()
    listener.join()
    kept = settled(folder)
    lost = [at for at in said[kept:] if at <= killed_ns]
    age = (killed_ns - lost[0]) / 1e6 if lost else None
    return len(said), kept, age


def main():
    rng = random.Random(20261130)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.cfg"
        plan.write_text(PLAN)
        for i in range(ROUNDS):
            rounds.append(one_round(plan, pathlib.Path(folder) / f"run{i}",
                                    rng.uniform(0.2, 6.0)))
    ages = [age for _, _, age in rounds if age is not None]
    result = {
        "rounds": len(rounds),
        "rounds_with_cells": sum(said > 0 for said, _, _ in rounds),
        "rounds_with_loss": len(ages),
        "cells_lost_most": max(said - kept for said, kept, _ in rounds),
        "loss_ms_most": round(max(ages, default=0.0), 1),
        "promised_ms": PROMISED_MS,
    }
    json.dump(result, sys.stdout, indent=1)
    print()
    if result["loss_ms_most"] > PROMISED_MS:
        sys.exit(1)


main()
