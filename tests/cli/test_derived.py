# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Cells computed from others: they share the fate of what they are computed
from, also where another process has to tell it, and an attempt that confirms
them stands on figures of its own."""
from harness import *

PLAN = """
name = "derived";
defaults = { mode = "fixed"; buffer_size = "1 MiB"; samples = 3; copies = 2;
  warmup = 1; timeout = "%d s"; };
suites = ( { plugin = "%s"; tests = [ "%s" ]; %s } );
"""
COPY = "device_local_copy"


def run(folder, fault="", plugin="local", test=COPY, more="", timeout=2):
    (folder.path / "machine").unlink(missing_ok=True)
    shutil.rmtree(folder.path / "run", ignore_errors=True)
    folder.write("p.cfg", PLAN % (timeout * PATIENCE, plugin, test, more))
    code, report, _ = folder.report(
        "--driver", SIM, "--sim-profile", "laptop_x4", "-c", "p.cfg",
        "--run-dir", "run",
        env={"NVBW_SIM_FAULTS": fault,
             "NVBW_SIM_SEGMENT": str(folder.path / "machine")})
    check_conservation(report)
    return code, {(c["metric"], c["col"]): c for c in cells_of(report)}


def check_fate(folder, fault, state, reason):
    """Each metric of the one GPU that was hit, and no other."""
    code, cells = run(folder, fault)
    equal(code, 4, f"{fault}: exit code")
    hit = {key: (c["state"], c["reason"]) for key, c in cells.items()
           if c["state"] != "unchecked"}
    gpus = {gpu for _, gpu in hit}
    equal(len(gpus), 1, f"{fault}: GPUs hit")
    equal(hit, {(metric, gpu): (state, reason) for gpu in gpus
                for metric in ("bandwidth", "traffic")}, fault)


def records_of(folder):
    """{(metric, col, attempt): samples} of the journal."""
    return {(d["metric"], d["col"], d["attempt"]): d["samples"]
            for kind, d in journal(folder.path / "run") if kind == "cell"}


def median(samples):
    return sorted(samples)[len(samples) // 2]


def check_confirmed(folder):
    """A figure that always fails is measured twice more, with its source."""
    code, cells = run(folder, more="""confirm = 2; limits = (
      { match = "device_local_copy/traffic"; devices = "1";
        min = "5000 GB/s"; } );""")
    equal(code, 1, "confirm: exit code")
    equal({key: c["attempts"] for key, c in cells.items()},
          {(metric, gpu): 3 if gpu == 1 else 1 for gpu in range(4)
           for metric in ("bandwidth", "traffic")}, "confirm: attempts")
    equal(cells["traffic", 1]["state"], "fail", "confirm: state")
    records = records_of(folder)
    for (metric, gpu, attempt), samples in records.items():
        source = records.get(("bandwidth", gpu, attempt), [0])
        if metric == "traffic":
            equal(samples, [2 * median(source)],
                  f"confirm: traffic of GPU {gpu}, attempt {attempt}")


def check_total_confirmed(folder):
    """A total is measured: each attempt has samples of its own."""
    test = "host_to_device_bidirectional_memcpy_ce"
    code, cells = run(folder, plugin="ce_h2d", test=test, more="""confirm = 2;
      params = { copies = 8; }; limits = ( { match = "%s/total";
      devices = "1"; min = "500 GB/s"; } );""" % test)
    equal(code, 1, "total: exit code")
    equal(cells["total", 1]["attempts"], 3, "total: attempts")
    records = records_of(folder)
    for attempt in range(3):
        equal(len(records.get(("total", 1, attempt), [])), 3,
              f"total: samples of attempt {attempt}")


with Folder() as f:
    # The worker is gone after these: another one settles what was left.
    check_fate(f, "kernel:fail=20", "error", "driver")
    check_fate(f, "cuStreamQuery:5=hang", "timeout", None)
    # After this one the same worker goes on.
    check_fate(f, "cuMemAlloc:9=304", "error", "driver")
    check_confirmed(f)
    check_total_confirmed(f)

finish()
