# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""tma on simulated machines: its figures against what the profile's numbers
give, and GPUs that are too old for bulk copies. The simulated driver gives
bulk copies the rates of other kernels."""
from peer_model import *

TMA = Mover("tma", "tma", "_sm", engines=64, shapes=4)
LOCAL = "device_local_copy_tma"


def check_local(folder, profile):
    code, report, stderr = measure(TMA, folder, profile, FIXED, tests=[LOCAL])
    equal(code, 0, f"{profile}: exit code ({stderr[-400:]})")
    machine = Machine(profile, 0)
    for cell in cells_of(report):
        times = 2 if cell["metric"] == "traffic" else 1
        size, copies = 2 << 20, 16
        seconds = copies * (machine.plain("kernel_us") * 1e-6 + size /
                            machine.number("rate", "local_sm", 0) / 1e9)
        check_figure(cell, seconds, times * copies * size, LOCAL)
        if cell["metric"] == "bandwidth":
            equal({f["initiator"] for f in cell["flows"]}, {"tma"},
                  f"{LOCAL}: initiator")


with Folder() as f:
    check_machine(TMA, f, "laptop_x4", 4, FIXED)
    check_machine(TMA, f, "h200_x2", 2, FIXED)
    check_local(f, "laptop_x4")
    check_local(f, "h200_x2")

    code, report, _ = measure(TMA, f, "dgx_a100_x8",
                              SMALL + ' required = "if_possible";',
                              tests=[TMA.read, LOCAL])
    equal(code, 0, "A100: exit code")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "arch_too_old")}, "A100")
    for cell in cells_of(report):
        contains(cell["message"], "compute capability 9.0", "A100: message")

    code, report, _ = measure(TMA, f, "laptop_x4", SMALL + ' p2p = "off";',
                              tests=[TMA.write])
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "no_peer_access")}, "p2p off")

finish()
