# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A degraded machine differs from its healthy twin where it should and nowhere
else: two JSON reports, compared cell by cell."""
from harness import *

PLAN = """
name = "twins";
defaults = { mode = "fixed"; buffer_size = "64 MiB"; copies = 4; samples = 3;
  warmup = 1; };
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
  "device_to_host_memcpy_ce", "host_to_device_bidirectional_memcpy_ce" ]; } );
"""
# profile: GPU, its share of the healthy rate alone, and at most both ways (a
# GPU that is a little slow is not the narrowest part of a link in both).
TWINS = {"hgx_h200_x8_link_x8": (5, 0.5, 0.55),
         "hgx_h200_x8_gen3": (2, 0.25, 0.3),
         "hgx_h200_x8_slow_gpu": (7, 0.93, 1.0)}
SAME = 5e-4


def run(folder, profile):
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", profile)
    equal(code, 0, f"{profile}: exit code ({err[-300:]})")
    return report


def figures(report):
    return {(c["testcase"], c["metric"], c["col"]): c
            for c in cells_of(report)}


def compare(healthy, degraded, name, gpu, share, most):
    sick = figures(degraded)
    for key, cell in figures(healthy).items():
        ratio = sick[key]["figure"] / cell["figure"]
        if key[2] != gpu:
            check(abs(ratio - 1) < SAME, f"{name}: {key} is {ratio:.4f}")
        elif "bidirectional" not in key[0]:
            check(abs(ratio / share - 1) < 0.01,
                  f"{name}: {key} is {ratio:.4f}, not {share}")
        else:
            check(ratio < most + SAME, f"{name}: {key} is {ratio:.4f}")


with Folder() as f:
    f.write("p.cfg", PLAN)
    healthy = run(f, "hgx_h200_x8")
    for name, (gpu, share, most) in TWINS.items():
        degraded = run(f, name)
        if healthy is None or degraded is None:
            continue
        compare(healthy, degraded, name, gpu, share, most)
        same = [a == b for a, b in zip(healthy["facts"]["gpus"],
                                       degraded["facts"]["gpus"])]
        equal([i for i, s in enumerate(same) if not s],
              [gpu] if "slow" not in name else [],
              f"{name}: GPUs whose facts differ")

finish()
