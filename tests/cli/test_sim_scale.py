# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""All pairs of gb200_nvl72 by the host itself: every cell measured, each figure
right, in little memory. tests/bench/sim_scale.sh tells the time."""
import resource

from harness import *
from oracle import Profile, Sample

GPUS = 72
MOST_BYTES = 2 << 30
COPIES = 4

PLAN = f"""
name = "scale";
defaults = {{ mode = "fixed"; buffer_size = "1 GiB"; copies = {COPIES};
  samples = 3; warmup = 1; }};
suites = ( {{ plugin = "ce_d2d";
  tests = [ "device_to_device_memcpy_write_ce" ]; }} );
"""

with Folder() as f:
    f.write("p.cfg", PLAN)
    code, report, err = f.report("--driver", SIM, "--sim-profile",
                                 "gb200_nvl72", "-c", "p.cfg", "--run-dir",
                                 "run", "--quiet", timeout=280)
    equal(code, 0, f"exit code ({err[-300:]})")
    cells = cells_of(report)
    equal(len(cells), GPUS * (GPUS - 1), "pairs")
    profile = Profile("gb200_nvl72")
    wanted = Sample(profile, [profile.peer_flow(0, 1, False)], [], 1 << 30,
                    COPIES).bandwidth()
    for cell in cells:
        check(cell["figure"] and abs(cell["figure"] / wanted - 1) < 4e-4,
              f"GPU {cell['row']} to {cell['col']}: {cell['figure']}, not "
              f"{wanted} ({cell['message']})")
    check_conservation(report)
    # The largest of host and workers, in KiB; a sanitizer has its own needs.
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if SANITIZERS == [""]:
        check(most < MOST_BYTES, f"{most >> 20} MiB resident")

finish()
