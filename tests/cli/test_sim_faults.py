# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every driver function that a run calls fails once, and every fault of the
simulator strikes: each must end in its named state, hit no other cell, and
leave nothing behind. The processes of a run share one simulated machine, so
that the n-th call is the n-th of the machine. What must happen follows from
the class of a function, not from what was seen."""
import re
import time

from harness import *

CODE = 304  # CUDA_ERROR_OPERATING_SYSTEM: nothing is broken for good
GPUS = 4
DEADLINE_S = 2
# A worker that hangs is asked, then told, then killed; the machine may be busy.
GRACE_S = 30
FACTS_DEADLINE_S = 60

PLAN = """
name = "faults";
defaults = { mode = "%s"; buffer_size = "1 MiB"; samples = 3; copies = 2;
  warmup = 1; max_samples = 8; timeout = "2 s"; };
suites = ( %s { plugin = "null"; tests = [ "null_cell" ]; } );
"""
# What is hit must be in the first suites; the null suite must be measured.
HOST = """{ plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },"""
OTHERS = """
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ];
    params = { p2p = "both"; }; },
  { plugin = "ce_h2d"; tests = [ "host_to_device_bidirectional_memcpy_ce" ]; },
  { plugin = "sm_h2d"; tests = [ "host_to_device_memcpy_sm" ]; },
  { plugin = "local"; tests = [ "device_local_copy", "device_local_read_sm" ];
  },
  { plugin = "latency"; tests = [ "host_device_latency_sm" ]; },"""

# Tidying up never spoils what was measured.
ABSORBED = {"cuEventDestroy", "cuStreamDestroy", "cuMemFree", "cuMemFreeHost",
            "cuMemHostUnregister", "cuModuleUnload",
            "cuDevicePrimaryCtxRelease", "cuCtxGetCurrent"}
# Works and tidies up: a later call may be of either.
BOTH = {"cuCtxSetCurrent", "cuCtxDisablePeerAccess"}
# Called by no run that ends by itself, and why.
UNREACHED = {
    "cuGetErrorName": "after a failure only",
    "cuGetErrorString": "after a failure only",
    "cuDevicePrimaryCtxRelease": "a worker ends without closing the engine",
    "cuMemFreeHost": "the pool keeps what it has",
    "cuMemHostUnregister": "the pool keeps what it has",
    "cuModuleUnload": "a worker ends without closing the engine",
    "cuMemAllocManaged": "no bundled testcase has managed memory",
}
# Facts that a run can do without, or that NVML knows too.
FACTS = {"cuDeviceTotalMem", "cuDeviceGetAttribute", "cuDeviceCanAccessPeer",
         "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetPCIBusId",
         "cuDeviceGetUuid"}
# Without these there is no driver to speak of.
FIRST_CALLS = {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount"}
# Machine code, its text and the simulator's list of names are tried in turn.
FORMS_OF_KERNELS = 3


def functions_of_the_runtime():
    """Those of the table of functions that its sources call."""
    runtime = SOURCE / "plugin_api" / "runtime"
    table = (runtime / "cuda_abi.h").read_text().replace("\\\n", "")
    table = table[table.index("#define CUDA_FUNCTIONS"):]
    sources = "".join(f.read_text() for f in runtime.glob("*.c"))
    rows = re.findall(r"X\(\s*(\w+),\s*(\w+),", table)
    return {symbol for member, symbol in rows
            if re.search(rf"(->|\.)\s*{member}\s*\(", sources)}


def run(folder, fault, mode="fixed", calls=None, suites=HOST, devices=None):
    """(exit code, report, seconds) of a run under this fault."""
    for name in ("machine", "report.json"):
        (folder.path / name).unlink(missing_ok=True)
    folder.write("p.cfg", PLAN % (mode, suites))
    env = {"NVBW_SIM_FAULTS": fault,
           "NVBW_SIM_SEGMENT": str(folder.path / "machine")}
    if calls:
        env["NVBW_SIM_CALLS"] = str(calls)
    shutil.rmtree(folder.path / "run", ignore_errors=True)
    started = time.monotonic()
    code, report, _ = folder.report(
        "--driver", SIM, "--sim-profile", "laptop_x4", "-c", "p.cfg",
        *(["--devices", devices] if devices else []), "--run-dir", "run",
        env=env, timeout=200)
    return code, report, time.monotonic() - started


def is_alive(pid):
    """A process that runs; one that only waits to be collected is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def check_nothing_is_left(folder, fault):
    for kind, data in journal(folder.path / "run"):
        if kind == "event" and data.get("what") == "worker_start":
            check(not is_alive(data["pid"]),
                  f"{fault}: worker {data['pid']} is still there")


def place(cell):
    return cell["unit_id"], cell["row"], cell["col"]


def check_others(report, hit, fault):
    """All cells but those hit are measured, the null suite's too."""
    for cell in cells_of(report):
        if cell["plugin"] != "null" and place(cell) in hit:
            continue
        equal(cell["state"], "unchecked",
              f"{fault}: {cell['testcase']} {cell['col']}"
              f" ({cell['message']})")
    check_conservation(report)


def check_run(folder, fault, exit_code, state, reason, hit, **settings):
    """hit: how many cells of the first suite, a tuple of such, or which.
    state and reason: one pair, or a list of pairs of which any will do."""
    pairs = state if isinstance(state, list) else [(state, reason)]
    code, report, seconds = run(folder, fault, **settings)
    if report is None:
        return
    codes = exit_code if isinstance(exit_code, tuple) else (exit_code,)
    check(code in codes, f"{fault}: exit code {code}, not {codes}")
    cells = [c for c in cells_of(report) if c["plugin"] != "null"]
    struck = [c for c in cells if c["state"] != "unchecked"]
    if isinstance(hit, (int, tuple)):
        check(len(struck) in (hit if isinstance(hit, tuple) else (hit,)),
              f"{fault}: {len(struck)} cells hit, not {hit}")
    else:
        equal({c["col"] for c in struck}, hit, f"{fault}: cells hit")
    for cell in struck:
        check((cell["state"], cell["reason"]) in pairs,
              f"{fault}: {cell['state']}, {cell['reason']}: "
              f"{cell['message']}")
        check(cell["message"], f"{fault}: no message")
    check_others(report, {place(c) for c in struck}, fault)
    check_nothing_is_left(folder, fault)
    limit = GRACE_S + (FACTS_DEADLINE_S if "cuInit:1=hang" in fault or
                       fault.startswith("nvml") else DEADLINE_S)
    check(seconds < limit, f"{fault}: {seconds:.1f} s")


def calls_of(folder, **settings):
    """[(process, function, number)] of a run without a fault."""
    log = folder.path / "calls"
    log.unlink(missing_ok=True)
    code, _, _ = run(folder, "", calls=log, **settings)
    equal(code, 0, "without a fault")
    return [(int(a), b, int(c)) for a, b, c in
            (line.split() for line in log.read_text().splitlines())]


def check_function(folder, name, numbers, **settings):
    """The first and a later call, by the process that works."""
    for number in sorted({numbers[0], numbers[len(numbers) // 2]}):
        fault = f"{name}:{number}={CODE}"
        absorbed = name in ABSORBED or (
            name == "cuModuleLoadData" and number % FORMS_OF_KERNELS != 0)
        # A measurement has one cell, or a total or a derived one beside it.
        hit = (1,) if settings.get("suites", HOST) == HOST else (1, 2)
        if name == "cuModuleLoadData" and not absorbed:
            check_run(folder, fault, 4, "skip", "not_built", hit, **settings)
        elif absorbed:
            check_run(folder, fault, 0, None, None, 0, **settings)
        elif name in BOTH and number != numbers[0]:
            check_run(folder, fault, (0, 4), "error", "driver", (0,) + hit,
                      **settings)
        else:
            check_run(folder, fault, 4, "error", "driver", hit, **settings)


def check_functions(folder):
    """Every function of the driver that the runtime calls."""
    wanted = functions_of_the_runtime()
    check(len(wanted) > 40, f"the runtime calls {len(wanted)} functions only")
    done = set()
    for settings in ({}, {"suites": OTHERS, "devices": "0,1"}):
        calls = calls_of(folder, **settings)
        worker = next(p for p, name, _ in calls if name == "cuLaunchKernel")
        for name in sorted({n for p, n, _ in calls if p == worker} - done):
            check_function(
                folder, name,
                [number for p, what, number in calls
                 if p == worker and what == name], **settings)
            done.add(name)
        if settings:
            continue
        # NVML still names four GPUs, and none of them can be used.
        for name in sorted({n for p, n, _ in calls if p != worker}):
            if name in FIRST_CALLS:
                check_run(folder, f"{name}:1={CODE}", 3, "skip", "no_device",
                          GPUS)
            elif name in FACTS:
                check_run(folder, f"{name}:1={CODE}", 0, None, None, 0)
            else:
                fault(f"{name}: what do facts do without it?")
            done.add(name)
    equal(sorted(wanted - done), sorted(UNREACHED),
          "functions that the runtime calls and no run does")


def copies_of(folder, mode):
    """The numbers of the copies that are the last of a sample."""
    log = folder.path / "copies"
    log.unlink(missing_ok=True)
    run(folder, "", mode=mode, calls=log)
    found = []
    number = 0
    for line in log.read_text().splitlines():
        name = line.split()[1]
        if name == "cuMemcpyDtoHAsync":
            found.append(number)
        number += name.startswith("cuMemcpy")
    return found


DEEDS = (
    # fault, exit code, state, reason, cells hit
    ("gpu_lost=1@20", 3, "error", "driver", {1}),
    ("kernel:fail=20", 4, "error", "driver", 1),
    # The engine gives up after a minute of virtual time, the host after two
    # seconds of its own: whichever comes first.
    ("stream:hang=30", 4, [("timeout", None), ("error", "driver")], None, 1),
    ("cuStreamQuery:5=hang", 4, "timeout", None, 1),
    ("cuMemAlloc:1=hang", 4, "timeout", None, 1),
    ("cuInit:2=hang", 4, "timeout", None, 1),
    ("alloc_above=512KiB", 4, "skip", "memory", GPUS),
    ("cuMemHostRegister:1=2,cuMemHostRegister:2=2", 4, "skip", "memory", 1),
    ("cuInit:1+=100", 3, "skip", "no_device", GPUS),
    ("cuInit:1+=802", 3, "skip", "no_device", GPUS),
    ("cuInit:1+=803", 3, "skip", "no_device", GPUS),
    ("cuInit:1+=999", 3, "skip", "no_device", GPUS),
    # NVML is wanted and never needed.
    ("nvmlInit_v2:1+=9", 0, None, None, 0),
    ("nvmlDeviceGetCount_v2:1+=999", 0, None, None, 0),
    ("nvmlDeviceGetPciInfo_v3:1+=999", 0, None, None, 0),
    ("nvmlDeviceGetCurrPcieLinkWidth:1+=3", 0, None, None, 0),
    ("nvmlDeviceGetUUID:1=hang", 0, None, None, 0),
)

with Folder() as f:
    check_functions(f)
    for deed in DEEDS:
        check_run(f, *deed)
    flipped = copies_of(f, "fixed")[1]
    check_run(f, f"copy:flip={flipped}", 1, "mismatch", "wrong_data", {0})
    # Every copy has a slice of its own in this mode: none can hide another.
    skipped = copies_of(f, "adaptive")[1]
    check_run(f, f"copy:skip={skipped}", 1, "mismatch", "wrong_data", {0},
              mode="adaptive")
    if os.environ.get("NVBW_LONG"):  # the facts worker has a minute
        check_run(f, "cuInit:1=hang", 4, "skip", "no_device", 1)
        check_run(f, "nvmlInit_v2:1=hang", 0, None, None, 0)

finish()
