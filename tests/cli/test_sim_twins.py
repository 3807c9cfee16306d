# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""A degraded machine differs from its healthy twin where it should and nowhere
else: two JSON reports, compared cell by cell."""
from harness import *

PLAN = """
name = "twins";
defaults = { mode = "fixed"; buffer_size = "64 MiB"; copies = 4; samples = 3;
  warmup = 1; required = "if_possible"; };
telemetry = { enabled = false; }; # what it says of them is test_telemetry's
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
    "device_to_host_memcpy_ce", "host_to_device_bidirectional_memcpy_ce" ]; },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ];
    params = { buffer_size = "1 GiB"; }; },
  { plugin = "sm_h2d"; tests = [ "host_to_device_memcpy_sm" ]; },
  { plugin = "local"; tests = [ "device_local_*" ]; } );
"""
DOWN, UP = "host_to_device_memcpy_ce", "device_to_host_memcpy_ce"
BOTH = "host_to_device_bidirectional_memcpy_ce"
PEER = "device_to_device_memcpy_write_ce"
KERNEL = "host_to_device_memcpy_sm"
LOCAL = ("device_local_copy", "device_local_copy_sm", "device_local_read_sm",
         "device_local_write_sm")
ALL = 8  # every GPU

# profile: the GPU that is sick, the least and the most that it may have of
# its twin's figures by testcase (all that is not named is the same), and
# whether its facts differ.
TWINS = {
    "hgx_h200_x8_link_x8": (5, {DOWN: (0.49, 0.51), UP: (0.49, 0.51),
                                BOTH: (0.4, 0.55), KERNEL: (0.49, 0.51)}, 1),
    "hgx_h200_x8_gen3": (2, {DOWN: (0.24, 0.26), UP: (0.24, 0.26),
                             BOTH: (0.2, 0.3), KERNEL: (0.24, 0.26)}, 1),
    # A little slow alone, it is not the narrowest part of both ways at once.
    "hgx_h200_x8_slow_gpu": (7, {DOWN: (0.92, 0.94), UP: (0.92, 0.94),
                                 BOTH: (0.92, 1.0005),
                                 **{name: (0.92, 0.95) for name in LOCAL}}, 0),
    "hgx_h200_x8_throttled": (3, {KERNEL: (0.57, 0.60),
                                  "device_local_copy": (0.49, 0.54),
                                  "device_local_copy_sm": (0.3, 0.36),
                                  "device_local_read_sm": (0.3, 0.38),
                                  "device_local_write_sm": (0.3, 0.38)}, 0),
    # Six of eighteen links, for whoever copies from it or to it.
    "hgx_h200_x8_nvlink_down": (6, {PEER: (0.66, 0.68)}, 1),
    "hgx_h200_x8_far_numa": (ALL, {DOWN: (0.73, 0.75), UP: (0.68, 0.7),
                                   BOTH: (0.68, 0.85), KERNEL: (0.73, 0.75)},
                             0),
    "hgx_h200_x8_p2p_off": (ALL, {PEER: None}, 0),
}
SAME = 5e-4
TICK = 0.01  # of an event, against the shortest sample


def run(folder, profile, wanted=0):
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
        "--run-dir", profile,
        env={"NVBW_SIM_SEGMENT": str(folder.path / f"{profile}.machine")})
    equal(code, wanted, f"{profile}: exit code ({err[-300:]})")
    return report


def cells_by_place(report):
    return {(c["testcase"], c["metric"], c["row"], c["col"]): c
            for c in cells_of(report)}


def is_hit(key, gpu):
    """The sick GPU takes part in the cell."""
    return gpu == ALL or gpu == key[3] or (key[0] == PEER and gpu == key[2])


def compare(healthy, degraded, name, gpu, shares):
    sick = cells_by_place(degraded)
    for key, cell in cells_by_place(healthy).items():
        other = sick[key]
        share = shares.get(key[0], (1, 1)) if is_hit(key, gpu) else (1, 1)
        if share is None:
            equal((other["state"], other["reason"]),
                  ("skip", "no_peer_access"), f"{name}: {key}")
            continue
        if not check(other["figure"] is not None,
                     f"{name}: {key}: {other['message']}"):
            continue
        ratio = other["figure"] / cell["figure"]
        # What shares a link with the sick GPU is not a share of its own rate.
        if key[1] == "total" and is_hit(key, gpu):
            check(ratio < share[1] + 0.3, f"{name}: {key} is {ratio:.4f}")
            continue
        same = TICK if key[0] in LOCAL else SAME
        check(share[0] * (1 - same) <= ratio <= share[1] * (1 + same),
              f"{name}: {key} is {ratio:.4f}, not {share}")


def check_facts(healthy, degraded, name, gpu, differs):
    got = [i for i, (a, b) in enumerate(zip(healthy["facts"]["gpus"],
                                            degraded["facts"]["gpus"]))
           if a != b]
    equal(got, [gpu] if differs else [], f"{name}: GPUs whose facts differ")


def touches(cell, gpu):
    # A host's row is no GPU.
    return cell["col"] == gpu or gpu in cell["gpus"] or (
        cell["testcase"] == PEER and cell["row"] == gpu)


def check_lost(folder):
    """GPU 4 is lost in mid-run: its cells fail from there on, no others."""
    report = run(folder, "hgx_h200_x8_gpu_lost", wanted=3)
    for cell in cells_of(report):
        if not touches(cell, 4):
            equal(cell["state"], "unchecked",
                  f"gpu_lost: {cell['testcase']} {cell['col']}: "
                  f"{cell['message']}")
    states = {c["state"] for c in cells_of(report) if touches(c, 4)}
    check("error" in states, f"gpu_lost: cells of GPU 4 are {states}")
    check_conservation(report)


with Folder() as f:
    f.write("p.cfg", PLAN)
    healthy = run(f, "hgx_h200_x8")
    for name, (gpu, shares, differs) in TWINS.items():
        degraded = run(f, name)
        if healthy is not None and degraded is not None:
            compare(healthy, degraded, name, gpu, shares)
            check_facts(healthy, degraded, name, gpu, differs)
    check_lost(f)

finish()
