# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""plans/compare_nvbandwidth.cfg has the 35 testcases of nvbandwidth v0.8, in
either mode, and no other."""
from harness import *

WAYS = ("host_to_device_memcpy", "device_to_host_memcpy",
        "host_to_device_bidirectional_memcpy",
        "device_to_host_bidirectional_memcpy", "device_to_device_memcpy_read",
        "device_to_device_memcpy_write",
        "device_to_device_bidirectional_memcpy_read",
        "device_to_device_bidirectional_memcpy_write", "all_to_host_memcpy",
        "all_to_host_bidirectional_memcpy", "host_to_all_memcpy",
        "host_to_all_bidirectional_memcpy", "all_to_one_write",
        "all_to_one_read", "one_to_all_write", "one_to_all_read")
NAMES = [f"{way}_{by}" for by in ("ce", "sm") for way in WAYS] + [
    "host_device_latency_sm", "device_to_device_latency_sm",
    "device_local_copy"]

with Folder() as f:
    for words in ((), ("--set", "defaults.mode=fixed")):
        code, report, stderr = f.report(
            "--driver", SIM, "--sim-profile", "h200_x2", "-c",
            "plans/compare_nvbandwidth.cfg", *words, "--set",
            f"defaults.timeout={60 * PATIENCE} s", "--run-dir", "%t",
            timeout=300)
        equal(code, 0, f"{words}: exit code ({stderr[-300:]})")
        equal(sorted(u["testcase"] for u in report["units"]), sorted(NAMES),
              f"{words}: testcases")
        for cell in cells_of(report):
            where = f"{words} {cell['testcase']} {cell['metric']}"
            equal(cell["state"], "unchecked", f"{where}: {cell['message']}")
            wanted = "fixed" if words else "adaptive"
            if "derived" not in cell["flags"]:
                equal(cell["mode"], wanted, f"{where}: mode")

finish()
