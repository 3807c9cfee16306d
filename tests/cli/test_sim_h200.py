# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""h200_x2 against what nvbandwidth 0.8 measured on such a machine, with its
sizes: within 1 % where a path is used alone, or both ways between two GPUs.
With --table, all testcases as the rows of docs/simulated-driver.md."""
from harness import *

# Mean of both GPUs, or of both pairs; GB/s, or ns.
MEASURED = {
    ("host_to_device_memcpy_ce", "bandwidth"): 55.455,
    ("device_to_host_memcpy_ce", "bandwidth"): 55.325,
    ("host_to_device_memcpy_sm", "bandwidth"): 51.345,
    ("device_to_host_memcpy_sm", "bandwidth"): 52.605,
    ("device_to_device_memcpy_read_ce", "bandwidth"): 394.0,
    ("device_to_device_memcpy_write_ce", "bandwidth"): 396.4,
    ("device_to_device_memcpy_read_sm", "bandwidth"): 376.15,
    ("device_to_device_memcpy_write_sm", "bandwidth"): 370.0,
    ("device_to_device_bidirectional_memcpy_read_ce", "total"): 778.8,
    ("device_to_device_bidirectional_memcpy_write_ce", "total"): 783.7,
    ("device_to_device_bidirectional_memcpy_read_sm", "total"): 676.9,
    ("device_to_device_bidirectional_memcpy_write_sm", "total"): 731.6,
    ("all_to_one_write_ce", "bandwidth"): 396.4,
    ("all_to_one_read_ce", "bandwidth"): 394.0,
    ("all_to_one_write_sm", "bandwidth"): 369.8,
    ("one_to_all_write_ce", "bandwidth"): 396.4,
    ("one_to_all_read_ce", "bandwidth"): 393.9,
    ("one_to_all_write_sm", "bandwidth"): 369.9,
    ("device_local_copy", "bandwidth"): 2093.5,
    ("host_device_latency_sm", "latency"): 1198,
    ("device_to_device_latency_sm", "latency"): 827,
}
# Several flows share what no single one fills, or teams of kernels: the docs
# list how far the model is from these.
CONTENDED = {
    ("one_to_all_read_sm", "bandwidth"): 369.8,
    ("all_to_one_read_sm", "bandwidth"): 370.0,
    ("host_to_device_bidirectional_memcpy_ce", "bandwidth"): 50.385,
    ("device_to_host_bidirectional_memcpy_ce", "bandwidth"): 51.065,
    ("all_to_host_memcpy_ce", "bandwidth"): 52.595,
    ("all_to_host_bidirectional_memcpy_ce", "bandwidth"): 49.31,
    ("host_to_all_memcpy_ce", "bandwidth"): 53.91,
    ("host_to_all_bidirectional_memcpy_ce", "bandwidth"): 29.445,
    ("host_to_device_bidirectional_memcpy_sm", "bandwidth"): 42.38,
    ("device_to_host_bidirectional_memcpy_sm", "bandwidth"): 42.39,
    ("all_to_host_memcpy_sm", "bandwidth"): 51.19,
    ("all_to_host_bidirectional_memcpy_sm", "bandwidth"): 42.325,
    ("host_to_all_memcpy_sm", "bandwidth"): 50.72,
    ("host_to_all_bidirectional_memcpy_sm", "bandwidth"): 42.35,
}
TOLERANCE = 0.01

PLAN = """
name = "h200";
defaults = { mode = "fixed"; buffer_size = "512 MiB"; copies = 16;
  samples = 3; warmup = 4; };
suites = (
  { plugin = "ce_h2d"; params = { buffer_size = "128 MiB"; }; },
  { plugin = "sm_h2d"; params = { buffer_size = "128 MiB"; }; },
  { plugin = "ce_d2d"; }, { plugin = "sm_d2d"; },
  { plugin = "local"; tests = [ "device_local_copy" ]; },
  { plugin = "latency"; tests = [ "host_device_latency_sm",
    "device_to_device_latency_sm" ]; } );
"""


def figures(report):
    """{(testcase, metric): mean of its cells}"""
    found = {}
    for cell in cells_of(report):
        found.setdefault((cell["testcase"], cell["metric"]), []).append(
            cell["figure"] or 0)
    return {key: sum(values) / len(values) / (1e9 if values[0] > 1e6 else 1)
            for key, values in found.items()}


with Folder() as f:
    f.write("p.cfg", PLAN)
    code, report, err = f.report("--driver", SIM, "--sim-profile", "h200_x2",
                                 "-c", "p.cfg", "--run-dir", "run",
                                 timeout=280)
    equal(code, 0, f"exit code ({err[-300:]})")
    model = figures(report)
    for key, measured in MEASURED.items():
        got = model.get(key, 0)
        check(abs(got / measured - 1) <= TOLERANCE,
              f"{key}: {got:.2f}, measured {measured}")
    if sys.argv[1:] == ["--table"]:
        for key, measured in {**MEASURED, **CONTENDED}.items():
            got = model.get(key, 0)
            print(f"| {key[0]}{', total' if key[1] == 'total' else ''} | "
                  f"{measured:.5g} | {got:.5g} | "
                  f"{100 * (got / measured - 1):+.1f} % |")

finish()
