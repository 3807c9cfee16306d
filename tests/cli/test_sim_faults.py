# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every driver function that a run calls fails once, and every fault of the
simulator strikes: each must end in its named state, hit no other cell, and
leave nothing behind. The processes of a run share one simulated machine, so
that the n-th call is the n-th of the machine. What must happen follows from
the class of a function, not from what was seen. Arguments: "functions",
"deeds" or "walk" for one part of it."""
import concurrent.futures
import re
import struct
import time

from harness import *

CODE = 304  # CUDA_ERROR_OPERATING_SYSTEM: nothing is broken for good
GPUS = 4
# Of a cell, where something hangs; otherwise nothing depends on speed.
DEADLINE_S = 2 if PATIENCE == 1 else 4
UNHURRIED_S = 120
# A worker that opens its driver has five times as long.
OPENINGS = 5
# A worker that hangs is asked, then told, then killed; the machine may be busy.
GRACE_S = 30 if PATIENCE == 1 else 90
# Runs that hang sleep: so many go at once.
AT_A_TIME = 4 if PATIENCE == 1 else 2
FACTS_DEADLINE_S = 60

PLAN = """
name = "faults";
defaults = { mode = "%s"; buffer_size = "1 MiB"; samples = 3; copies = 2;
  warmup = 1; max_samples = 8; timeout = "%d s"; };
suites = ( %s { plugin = "null"; tests = [ "null_cell" ]; } ); %s
"""
# What is hit must be in the first suites; the null suite must be measured.
HOST = """{ plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },"""
PEER = """{ plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ];
  %s },"""
# Of figures: 50 GB/s between host and GPU, 100 between GPUs, within 5 %.
BACK = """{ id = "back"; plugin = "ce_h2d"; tests = [ "device_to_host_memcpy_ce" ];
  limits = ( { match = "*"; min = "47 GB/s"; } ); },"""
AT_ONCE = """{ plugin = "sm_d2d"; tests = [ "one_to_all_read_sm" ]; },"""
LOCAL = """{ plugin = "local"; tests = [ "device_local_copy" ]; },"""
STREAM = """{ plugin = "local"; tests = [ "stream_triad" ];
  params = { ladder = "64 KiB"; }; },"""
# The ring is one measurement of five cells, then there are four of two.
PATTERN = """{ plugin = "pattern"; params = { flows = (
  { name = "ring"; from = "gpu:*"; to = "gpu:+1"; },
  { name = "turn"; from = "gpu:*"; to = "gpu:+1"; by = "sm";
    order = "in_turn"; } ); }; },"""
# Of each GPU three rates, and two cells that are computed from them.
ACCESS = """{ plugin = "access"; tests = [ "access_stride" ];
  params = { strides = "1, 4"; }; },"""
LATER = 'limits = ( { match = "*"; min = "95 GB/s"; } );'
OTHERS = """
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ];
    params = { p2p = "both"; }; },
  { plugin = "ce_h2d"; tests = [ "host_to_device_bidirectional_memcpy_ce" ]; },
  { plugin = "sm_h2d"; tests = [ "host_to_device_memcpy_sm" ]; },
  { plugin = "local"; tests = [ "device_local_copy", "device_local_read_sm" ];
  },
  { plugin = "latency"; tests = [ "host_device_latency_sm" ]; },
  { plugin = "transfer"; params = { api = "sync"; sizes = "1 MiB"; };
    tests = [ "transfer_host_to_device", "transfer_device_to_host",
              "transfer_device_to_device" ]; },
  { id = "ring"; plugin = "transfer"; tests = [ "transfer_host_to_device" ];
    params = { memory = "ring"; ring = "64 KiB"; sizes = "1 MiB"; }; },
  { plugin = "launch"; params = { launches = 3; };
    tests = [ "launch_kernel", "launch_event" ]; },
  { id = "graph"; plugin = "launch"; tests = [ "launch_graph" ];
    params = { launches = 2; kernels = 2; }; },"""

# Tidying up never spoils what was measured.
ABSORBED = {"cuEventDestroy", "cuStreamDestroy", "cuMemFree", "cuMemFreeHost",
            "cuMemHostUnregister", "cuModuleUnload",
            "cuDevicePrimaryCtxRelease", "cuCtxGetCurrent",
            "cuGraphDestroy", "cuGraphExecDestroy"}
# Works and tidies up: a later call may be of either.
BOTH = {"cuCtxSetCurrent", "cuCtxDisablePeerAccess"}
# Called by no run: workers end without closing the engine, which alone calls
# it. tests/unit/runtime/test_engine_close.c closes it.
UNREACHED = {"cuDevicePrimaryCtxRelease"}
# Memory between ranks: test_multinode_faults.py has a row for each.
BETWEEN_RANKS = {
    "cuMemAddressFree", "cuMemAddressReserve", "cuMemCreate",
    "cuMemExportToShareableHandle", "cuMemGetAllocationGranularity",
    "cuMemImportFromShareableHandle", "cuMemMap", "cuMemRelease",
    "cuMemSetAccess", "cuMemUnmap",
    # and these in test_multicast.py
    "cuMulticastAddDevice", "cuMulticastBindMem", "cuMulticastCreate",
    "cuMulticastGetGranularity", "cuMulticastUnbind"}
# Of the table but not called by the runtime: what plugins call themselves and
# tests of the simulator do, and what kinds of memory to come are made with.
UNUSED = re.compile("cuDeviceGetP2PAttribute|cuCtxGetCurrent|"
                    "cuCtxSynchronize|cuMemcpy(Peer|Batch)Async|"
                    "cuMemsetD8Async|cu(Stream|Event)Synchronize|cuGraph.*|"
                    "cuFunc[GS]etAttribute|cuMem(GetAllocationGranularity|"
                    "Create|Release|Map|Unmap|SetAccess|Address(Reserve|Free)|"
                    "(Ex|Im)port(To|From)ShareableHandle)")
# Facts that a run can do without, or that NVML knows too.
FACTS = {"cuDeviceTotalMem", "cuDeviceGetAttribute", "cuDeviceCanAccessPeer",
         "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetPCIBusId",
         "cuDeviceGetUuid"}
# Without these there is no driver to speak of.
FIRST_CALLS = {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount"}
# Machine code, its text and the simulator's list of names are tried in turn.
FORMS_OF_KERNELS = 3


def functions_of_the_table():
    """Those that the runtime's sources call, and those that they do not."""
    runtime = SOURCE / "plugin_api" / "runtime"
    table = (runtime / "cuda_abi.h").read_text().replace("\\\n", "")
    table = table[table.index("#define CUDA_FUNCTIONS"):]
    sources = "".join(f.read_text() for f in runtime.glob("*.c"))
    rows = re.findall(r"X\(\s*(\w+),\s*(\w+),", table)
    used = {symbol for member, symbol in rows
            if re.search(rf"(->|\.)\s*{member}\s*\(", sources)}
    # What closing alone calls is reached by tests of the engine only.
    equal(re.findall(r"\n.*engine_close\(.*", sources),
          ["\nvoid engine_close(struct engine *engine)"],
          "who closes the engine")
    return used, {symbol for _, symbol in rows} - used


WAITS = re.compile("hang|late")
walked = []  # the faults of all runs


def run(folder, fault, mode="fixed", calls=None, suites=HOST, devices=None,
        more="", again=False, words=()):
    """(exit code, report, seconds) of a run under this fault."""
    walked.append(fault)
    for name in ("report.json",) if again else ("machine", "report.json"):
        (folder.path / name).unlink(missing_ok=True)
    timeout_s = DEADLINE_S if WAITS.search(fault) else UNHURRIED_S
    folder.write("p.cfg", PLAN % (mode, timeout_s, suites, more))
    env = {"NVBW_SIM_FAULTS": fault,
           "NVBW_SIM_SEGMENT": str(folder.path / "machine")}
    if calls:
        env["NVBW_SIM_CALLS"] = str(calls)
    shutil.rmtree(folder.path / "run", ignore_errors=True)
    started = time.monotonic()
    code, report, _ = folder.report(
        "--driver", SIM, "--sim-profile", "laptop_x4", "-c", "p.cfg",
        *(["--devices", devices] if devices else []), "--run-dir", "run",
        *words, env=env, timeout=200)
    return code, report, time.monotonic() - started


def check_nothing_is_left(folder, fault):
    """No process of the run, whoever started it, and no shared memory."""
    mark = f"NVBW_SIM_SEGMENT={folder.path}/".encode()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environ = (process / "environ").read_bytes()
        except OSError:
            continue  # gone, or only waits to be collected
        check(mark not in environ, f"{fault}: process {process.name} is left")
    left = {f.name for f in pathlib.Path("/dev/shm").glob("*nvbw*")}
    check(left <= shared_before, f"{fault}: left in /dev/shm: {left}")


def place(cell):
    return cell["unit_id"], cell["row"], cell["col"]


def check_others(report, hit, fault):
    """All cells but those hit are measured, the null suite's too."""
    for cell in cells_of(report):
        if cell["plugin"] != "null" and place(cell) in hit:
            continue
        check(cell["state"] in FINE and cell["figure"] is not None,
              f"{fault}: {cell['testcase']} {cell['col']}: {cell['state']} "
              f"({cell['message']})")
    check_conservation(report)


FINE = ("unchecked", "pass")


def check_run(folder, fault, exit_code, state, reason, hit, says="",
              **settings):
    """hit: how many cells of the first suites, a tuple of such, their columns,
    or a function that tells them. state and reason: one pair, or a list of
    pairs of which any will do. says: what is in each of their messages."""
    pairs = state if isinstance(state, list) else [(state, reason)]
    code, report, seconds = run(folder, fault, **settings)
    if report is None:
        return
    codes = exit_code if isinstance(exit_code, tuple) else (exit_code,)
    check(code in codes, f"{fault}: exit code {code}, not {codes}")
    cells = [c for c in cells_of(report) if c["plugin"] != "null"]
    struck = [c for c in cells if c["state"] not in FINE]
    if callable(hit):
        equal({place(c) for c in struck}, {place(c) for c in cells if hit(c)},
              f"{fault}: cells hit")
    elif isinstance(hit, (int, tuple)):
        check(len(struck) in (hit if isinstance(hit, tuple) else (hit,)),
              f"{fault}: {len(struck)} cells hit, not {hit}")
    else:
        equal({c["col"] for c in struck}, hit, f"{fault}: cells hit")
    for cell in struck:
        check((cell["state"], cell["reason"]) in pairs,
              f"{fault}: {cell['state']}, {cell['reason']}: "
              f"{cell['message']}")
        check(cell["message"] and says in cell["message"],
              f"{fault}: {says!r} is not in {cell['message']!r}")
    check_others(report, {place(c) for c in struck}, fault)
    check_nothing_is_left(folder, fault)
    limit = GRACE_S + (FACTS_DEADLINE_S if "cuInit:1=hang" in fault or
                       fault.startswith("nvml") else OPENINGS * DEADLINE_S)
    check(seconds < limit, f"{fault}: {seconds:.1f} s")
    return report


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
    wanted, unused = functions_of_the_table()
    check(len(wanted) > 40, f"the runtime calls {len(wanted)} functions only")
    for name in unused:
        check(UNUSED.fullmatch(name), f"{name} is in the table and not called")
    done = check_after_failures(folder) | check_when_full(folder)
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
    equal(sorted(wanted - done), sorted(UNREACHED | BETWEEN_RANKS),
          "functions that the runtime calls and no run does")


def names_of(log):
    return {line.split()[1] for line in log.read_text().splitlines()}


def check_after_failures(folder):
    """What is only asked after a failure: what it is called, and what that
    means. Where that fails too the number must do."""
    log = folder.path / "after"
    done = {"cuGetErrorName", "cuGetErrorString"}
    for more in ("", ",cuGetErrorName:1+=1,cuGetErrorString:1+=1",
                 ",cuGetErrorString:1+=1"):
        log.unlink(missing_ok=True)
        check_run(folder, f"cuStreamCreate:1={CODE}{more}", 4, "error",
                  "driver", 1, says=f"({CODE})", calls=log)
        equal(done - names_of(log), set(), f"calls after a failure{more}")
        if "Name" in more:
            done.discard("cuGetErrorString")  # of what has no name
    return {"cuGetErrorName", "cuGetErrorString"}


# Of host memory that the driver makes or knows, with room for two sizes.
KINDS = """{ plugin = "memory_kinds"; params = {
  buffer_size = [ "1 MiB", "8 MiB" ]; }; },"""
SIZES = HOST.replace(" },", 'params = { buffer_size = [ "1 MiB", "8 MiB" ]; };'
                     " },")


def check_when_full(folder):
    """Memory that is there for reuse is given back where it is missing. What
    the driver does not take back costs nothing either."""
    done = set()
    for suites, words, names in (
            (KINDS, ("--plugin-dir",
                     BUILD / "tests" / "contract" / "plugins" / "memory_kinds",
                     "--trust-plugins"), {"cuMemAllocManaged",
                                          "cuMemFreeHost"}),
            (SIZES, (), {"cuMemHostUnregister"})):
        settings = {"suites": suites, "words": words}
        calls = calls_of(folder, **settings)
        last = max(n for _, what, n in calls if what == "cuMemAlloc")
        log = folder.path / "full"
        log.unlink(missing_ok=True)
        check_run(folder, f"cuMemAlloc:{last}=2", 0, None, None, 0, calls=log,
                  **settings)
        equal(names - names_of(log), set(), "calls of a full machine")
        for name in names & ABSORBED:
            check_run(folder, f"cuMemAlloc:{last}=2,{name}:1+={CODE}", 0, None,
                      None, 0, **settings)
        if "cuMemAllocManaged" in names:
            check_run(folder, f"cuMemAllocManaged:2={CODE}", 4, "error",
                      "driver", 1, says="managed", **settings)
        done |= names
    return done


def copies_of(folder, mode, suites=HOST):
    """The numbers of the copies that are the last of a sample."""
    log = folder.path / "copies"
    log.unlink(missing_ok=True)
    run(folder, "", mode=mode, suites=suites, calls=log)
    found = []
    number = 0
    for line in log.read_text().splitlines():
        name = line.split()[1]
        if name == "cuMemcpyDtoHAsync":
            found.append(number)
        number += name.startswith("cuMemcpy")
    return found


def operations_of(folder, gpu, suites):
    """How many a GPU has made after these suites, by the shared machine."""
    run(folder, "", suites=suites)
    machine = (folder.path / "machine").read_bytes()
    # Before them: five counters, then those of 2 x 256 functions.
    return struct.unpack_from("Q", machine, 8 * (5 + 2 * 256) + 16 * gpu)[0]


def of_gpu_1(cell):
    return cell["col"] == 1


def with_gpu_1(cell):
    """Cells of pairs; of a host, rows are none."""
    return cell["plugin"] == "ce_d2d" and 1 in (cell["row"], cell["col"])


def back_of_gpu_1(cell):
    return cell["testcase"] == "device_to_host_memcpy_ce" and cell["col"] == 1


def of_pairs(cell):
    return cell["plugin"] == "ce_d2d"


def everything(_):
    return True


def deeds_of(folder):
    """Rows: fault, exit code, state, reason, cells hit, settings."""
    # In mid-run, after the first testcase.
    then = operations_of(folder, 1, HOST) + 1
    slow = {"suites": HOST + BACK, "says": "is below 47.00 GB/s"}
    less = {"suites": HOST + PEER % LATER, "says": "is below 95.00 GB/s"}
    pattern = {"suites": PATTERN}
    access = {"suites": ACCESS}
    return (
        (f"slow=1@{then}", 1, "fail", "limit", back_of_gpu_1, slow),
        (f"pcie=1@{then}", 1, "fail", "limit", back_of_gpu_1, slow),
        (f"nvlink=1@{then}", 1, "fail", "limit", with_gpu_1, less),
        # A link that fails altogether takes the context with it.
        ("cuStreamQuery:40=220", 4, "error", "driver", 1,
         {"suites": PEER % "", "says": "an NVLink failed"}),
        ("cuStreamQuery:9=214", 4, "error", "driver", 1,
         {"says": "uncorrectable ECC error"}),
        ("gpu_lost=1@20", 3, "error", "driver", {1}, {}),
        ("kernel:fail=20", 4, "error", "driver", 1, {"says": "Xid"}),
        # While the GPU is opened: it is of no use to this worker any more.
        ("kernel:fail=1", 4, "error", "driver", 1,
         {"suites": HOST + PEER % "", "says": "first kernels"}),
        # What is computed from the cell that was hit ends as that did.
        ("kernel:fail=20", 4, "error", "driver", 2, {"suites": LOCAL}),
        ("kernel:fail=4", 4, "error", "driver", 1, {"suites": STREAM}),
        ("kernel:fail=14", 4, "error", "driver", 1, {"suites": STREAM}),
        ("cuStreamQuery:5=hang", 4, "timeout", None, 2, {"suites": LOCAL}),
        ("kernel:fail=6", 4, "error", "driver", 5, pattern),
        (f"cuLaunchKernel:60={CODE}", 4, "error", "driver", 5, pattern),
        (f"cuMemAlloc:2={CODE}", 4, "error", "driver", 5, pattern),
        ("cuStreamQuery:40=hang", 4, "timeout", None, 5, pattern),
        ("alloc_above=512KiB", 4, "skip", "memory", everything, pattern),
        # A rate, and what is computed from it: all rows, of the coalesced one.
        ("kernel:fail=6", 4, "error", "driver", 3, access),
        ("kernel:fail=60", 4, "error", "driver", 2, access),
        (f"cuLaunchKernel:60={CODE}", 4, "error", "driver", 2, access),
        (f"cuMemAlloc:8={CODE}", 4, "error", "driver", 2, access),
        ("stream:hang=60", 4, [("timeout", None), ("error", "driver")], None,
         3, access),
        ("alloc_above=512KiB", 4, "skip", "memory", everything, access),
        ("kernel:serial", 4, "invalid", "serialised", everything,
         {"suites": AT_ONCE}),
        ("peer:drop", 1, "mismatch", "wrong_data", of_pairs,
         {"suites": HOST + PEER % "", "says": "memory wrong"}),
        # The engine gives up after a minute of virtual time, the host after
        # two seconds of its own: whichever comes first.
        ("stream:hang=30", 4, [("timeout", None), ("error", "driver")], None,
         1, {}),
        ("cuStreamQuery:5=hang", 4, "timeout", None, 1, {}),
        ("cuMemAlloc:1=hang", 4, "timeout", None, 1, {}),
        ("cuInit:2=hang", 4, "timeout", None, 1, {}),
        ("alloc_above=512KiB", 4, "skip", "memory", GPUS, {}),
        ("cuMemHostRegister:1=2,cuMemHostRegister:2=2", 4, "skip", "memory", 1,
         {"says": "limit on locked memory"}),
        # Fabric memory without a channel, by whichever call.
        ("cuMemAlloc:2=800", 4, "error", "driver", 1,
         {"says": "no IMEX channel can be used"}),
        ("cuInit:1+=100", 3, "skip", "no_device", GPUS, {}),
        ("cuInit:1+=802", 3, "skip", "no_device", GPUS, {}),
        ("cuInit:1+=803", 3, "skip", "no_device", GPUS, {}),
        ("cuInit:1+=999", 3, "skip", "no_device", GPUS, {}),
        # NVML is wanted and never needed.
        ("nvmlInit_v2:1+=9", 0, None, None, 0, {}),
        ("nvmlDeviceGetCount_v2:1+=999", 0, None, None, 0, {}),
        ("nvmlDeviceGetPciInfo_v3:1+=999", 0, None, None, 0, {}),
        ("nvmlDeviceGetCurrPcieLinkWidth:1+=3", 0, None, None, 0, {}),
        ("nvmlDeviceGetUUID:1=hang", 0, None, None, 0, {}),
        # The watch worker's: none of it answers, opening hangs, and readings.
        (",".join(f"{name}:1+=3" for name in sorted(WATCHED)), 0, None, None,
         0, {}),
        ("nvmlInit_v2:2=hang", 0, None, None, 0, {}),
        ("nvmlDeviceGetClockInfo:3=hang", 0, None, None, 0, {}),
        ("nvmlDeviceGetClockInfo:11=hang", 0, None, None, 0, {}),
        ("nvmlDeviceGetClockInfo:11=kill", 0, None, None, 0, {}),
        ("cuMemAlloc:1=kill", 4, "crash", None, 1, {}),
        # It always answers, and takes all the time that there is for it.
        ("nvmlEventSetWait_v2:1+=late", 0, None, None, 0,
         {"suites": HOST + PEER % ""}),
        (f"throttle=1@{then + 1}", 3, "invalid", "throttled", back_of_gpu_1,
         {"suites": HOST + BACK, "says": "hardware thermal slowdown"}),
        # A worker that comes later sees another machine than the first did
        # in what may change, and goes on.
        ("busy=1@5,ecc=2@5,pcie=3@5,kernel:fail=20", 3, "error", "driver", 1,
         {}),
    )


def check_deeds(deeds):
    """Those that wait go side by side, each in a folder of its own."""
    def check_deed(deed):
        with Folder() as folder:
            check_run(folder, *deed[:-1], **deed[-1])

    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as waiting:
        list(waiting.map(check_deed, (d for d in deeds if WAITS.search(d[0]))))
    for deed in deeds:
        if not WAITS.search(deed[0]):
            check_deed(deed)


def walk_of(folder):
    """Rows for what hangs or is late at many moments of a run: whichever it is,
    NVML costs nothing, and a driver the measurement in flight."""
    suites = {"suites": HOST + PEER % ""}
    rows = [(f"{name}:1+=late", 0, None, None, 0, suites)
            for name in ("nvmlDeviceGetClockInfo", "nvmlDeviceGetFieldValues")]
    for i, name in enumerate(sorted(WATCHED)):
        for number in (1 + i % 8, 9 + 3 * i % 16):
            rows.append((f"{name}:{number}=hang", 0, None, None, 0, suites))
        rows.append((f"{name}:{1 + 5 * i % 24}=late", 0, None, None, 0, suites))
    calls = calls_of(folder, **suites)
    worker = next(p for p, name, _ in calls if name == "cuLaunchKernel")
    for i, name in enumerate(sorted({n for p, n, _ in calls if p == worker})):
        numbers = [number for p, what, number in calls
                   if p == worker and what == name]
        number = numbers[len(numbers) * (i % 4) // 4]
        rows.append((f"{name}:{number}=hang", 4, "timeout", None, 1, suites))
    return rows


def functions_of_watch():
    """What the watch worker asks NVML for."""
    runtime = SOURCE / "plugin_api" / "runtime"
    table = (runtime / "nvml_abi.h").read_text().replace("\\\n", "")
    rows = re.findall(r"X\(\s*(\w+),\s*(nvml\w+),", table)
    source = (runtime / "nvml_watch.c").read_text()
    return {symbol for member, symbol in rows
            if re.search(rf"nvml(->|\.){member}\b", source)} - {
                "nvmlInit_v2", "nvmlDeviceGetCount_v2",
                "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPciInfo_v3"}


WATCHED = functions_of_watch()


def gpu_of(report, index):
    return report["facts"]["gpus"][index]


def check_busy(folder):
    """Who else uses a GPU is told; a plan may ask for nobody."""
    report = check_run(folder, "busy=1", 0, None, None, 0)
    for gpu in range(GPUS):
        equal(len(gpu_of(report, gpu)["processes"] or []), int(gpu == 1),
              f"busy: processes of GPU {gpu}")
    code, report, _ = run(folder, "busy=1",
                          more="expect = { idle = true; };")
    equal(code, 3, "busy, idle expected: exit code")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("not_run", "health")}, "busy, idle expected")
    check_conservation(report)
    check_nothing_is_left(folder, "busy, idle expected")
    # Who comes later than the facts were read is not waited for.
    check_run(folder, "busy=1@5", 0, None, None, 0,
              more="expect = { idle = true; };")


def check_counters(folder):
    """Counters that rise take no figure away and are findings of health; the
    next report's facts tell them too."""
    report = check_run(folder, "ecc=1@5", 3, None, None, 0)
    equal(gpu_of(report, 1)["ecc_uncorrected"], 0, "ecc: at first")
    report = check_run(folder, "ecc=1@5", 3, None, None, 0, again=True)
    check(gpu_of(report, 1)["ecc_uncorrected"] > 0, "ecc: afterwards")
    equal(gpu_of(report, 0)["ecc_uncorrected"], 0, "ecc: of another GPU")
    for item in ("replays", "nvlink_errors", "remap", "xid", "power_cap"):
        walked.append(f"{item}=1")  # by test_telemetry.py
    walked.append("multicast:drop=1")  # by test_multicast.py


def check_lost(folder):
    """A GPU that is gone costs the measurement in flight; what comes later is
    not tried, whether or not its cells name their GPU."""
    for suites, in_flight in ((PATTERN, 5), (ACCESS, 1)):
        report = check_run(
            folder, "gpu_lost=1@20", 3,
            [("error", "driver"), ("blocked", "tainted")], None, in_flight + 4,
            suites=suites)
        equal([c["state"] for c in cells_of(report)].count("error"), in_flight,
              f"gpu_lost: cells that were tried ({suites[:22]})")


def check_copies(folder):
    # One flow of the ring and what is summed up of all.
    flipped = copies_of(folder, "fixed", PATTERN)[4]
    check_run(folder, f"copy:flip={flipped}", 1, "mismatch", "wrong_data", 2,
              suites=PATTERN)
    flipped = copies_of(folder, "fixed")[1]
    check_run(folder, f"copy:flip={flipped}", 1, "mismatch", "wrong_data", {0})
    # Every copy has a slice of its own in this mode: none can hide another.
    skipped = copies_of(folder, "adaptive")[1]
    check_run(folder, f"copy:skip={skipped}", 1, "mismatch", "wrong_data", {0},
              mode="adaptive")


def check_all_are_walked():
    """Each kind of fault that the simulator knows was in some run."""
    source = (SOURCE / "tests" / "simcuda" / "sim_faults.c").read_text()
    kinds = re.findall(r'\{ "([a-z_]+[:=][a-z]*=?)", FAULT_', source)
    check(len(kinds) > 10, f"{len(kinds)} kinds of faults only")
    for kind in kinds:
        check(any(kind in fault for fault in walked), f"no row for {kind}")


PARTS = sys.argv[1:] or ["functions", "deeds"]
shared_before = {f.name for f in pathlib.Path("/dev/shm").glob("*nvbw*")}
with Folder() as f:
    if "functions" in PARTS:
        check_functions(f)
    if "deeds" in PARTS:
        check_deeds(deeds_of(f))
        check_busy(f)
        check_counters(f)
        check_lost(f)
        check_copies(f)
        check_all_are_walked()
    if "walk" in PARTS:
        AT_A_TIME *= 2
        check_deeds(walk_of(f))
    if os.environ.get("NVBW_LONG"):  # the facts worker has a minute
        check_run(f, "cuInit:1=hang", 4, "skip", "no_device", 1)
        check_run(f, "nvmlInit_v2:1=hang", 0, None, None, 0)

finish()
