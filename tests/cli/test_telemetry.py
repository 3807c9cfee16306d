# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Telemetry: what the watch worker reads is joined to cells, judged, written as
a series and printed; without NVML the run is the same run."""
from harness import *

PLAN = """
name = "telemetry";
defaults = { mode = "%s"; buffer_size = "1 MiB"; samples = 3; copies = 2;
  warmup = 1; max_samples = 8; };
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
  "device_to_host_memcpy_ce" ]; } );
%s
"""
FINE = {"unchecked"}
runs = 0


def run(folder, faults="", mode="fixed", more="", words=(), machine="h200_x2"):
    """(exit code, report, stderr, journal lines)"""
    global runs
    runs += 1
    folder.write("p.cfg", PLAN % (mode, more))
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", machine, "-c", "p.cfg",
        "--run-dir", f"r{runs}", *words,
        env={"NVBW_SIM_FAULTS": faults,
             "NVBW_SIM_SEGMENT": str(folder.path / f"m{runs}")})
    journal = folder.path / f"r{runs}" / "journal.ndjson"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    check_conservation(report)
    return code, report, err, lines


def of_gpu(cell, gpu):
    found = [t for t in cell["telemetry"] if t["gpu"] == gpu]
    return found[0] if found else None


def findings_of(report):
    return sorted((f["family"], f["id"], f["gpu"]) for f in report["findings"])


def check_healthy(folder):
    for mode in ("fixed", "adaptive"):
        code, report, _, lines = run(folder, mode=mode)
        equal((code, report["findings"]), (0, []), f"healthy, {mode}")
        equal(report["telemetry"]["trouble"], None, f"healthy, {mode}")
        for cell in cells_of(report):
            mine = of_gpu(cell, cell["col"])
            if not check(mine, f"{mode}: no telemetry of {cell['col']}"):
                continue
            equal(len(cell["telemetry"]), 1, f"{mode}: GPUs of a cell")
            check(mine["readings"] >= 2, f"{mode}: {mine['readings']} readings")
            equal((mine["pcie_generation_most"], mine["pcie_width_least"],
                   mine["nvlinks_least"], mine["sm_mhz_least"],
                   mine["reasons"], mine["pcie_replays"], mine["processes"]),
                  (5, 16, 18, 1980, 0, None, []), f"{mode}: readings")
        series = [x["data"] for x in lines if x["type"] == "reading"]
        equal(series and series[0]["first"], 1, f"{mode}: the series begins")
        equal({x["gpu"] for x in series}, {0, 1}, f"{mode}: series of GPUs")
        check(series[0]["pcie_replays"] == 0, f"{mode}: a counter at rest")
        equal(len(report["telemetry"]["readings"]), len(series),
              f"{mode}: readings in the report")


def check_off(folder):
    _, report, _, lines = run(folder, more="telemetry = { enabled = false; };")
    equal([c["telemetry"] for c in cells_of(report)], [[]] * 4, "off: cells")
    check(not [x for x in lines if x["type"] == "reading"], "off: readings")
    equal(report["telemetry"], {"trouble": None, "readings": []}, "off")


def check_counters(folder):
    code, report, err, _ = run(
        folder, "replays=1,nvlink_errors=1@20,remap=0,xid=1@20", "adaptive")
    equal(code, 3, f"counters: exit code {err[-300:]}")
    equal({c["state"] for c in cells_of(report)}, FINE, "counters: states")
    equal(findings_of(report), [("errors counted", "memory_errors", 0),
                                ("errors counted", "nvlink_errors", 1),
                                ("errors counted", "pcie_replays", 1),
                                ("errors counted", "xid", 1)], "counters")
    for cell in cells_of(report):
        mine = of_gpu(cell, cell["col"])
        equal((mine["pcie_replays"] or 0) > 0, cell["col"] == 1,
              "counters: replays of a cell")
    xid = next(f for f in report["findings"] if f["id"] == "xid")
    contains(xid["what"], "Xid 79", "counters: number")
    # What the plan tolerates is no finding.
    code, report, _, _ = run(
        folder, "replays=1,nvlink_errors=1", more="telemetry = "
        "{ pcie_replays = 100000; nvlink_replays = 100000; "
        "nvlink_recoveries = 100000; nvlink_crc = 100000; };")
    equal((code, report["findings"]), (0, []), "counters: tolerated")


def check_late(folder):
    """NVML is slow: to open, to answer, to tell of the run's last events."""
    # An Xid before the first reading is one of this run, too.
    for late in ("nvmlInit_v2:2=late,xid=1@1", "nvmlInit_v2:2=late", "nvmlDeviceGetClockInfo:1=late",
                 "nvmlEventSetWait_v2:3=late"):
        code, report, err, _ = run(folder, f"{late},replays=1" + (
            "" if "xid" in late else ",xid=1@20"))
        equal(code, 3, f"{late}: exit code {err[-300:]}")
        equal(findings_of(report), [("errors counted", "pcie_replays", 1),
                                    ("errors counted", "xid", 1)], late)
        equal(report["telemetry"]["trouble"], None, late)
        for cell in cells_of(report):
            check(of_gpu(cell, cell["col"]), f"{late}: a cell of GPU "
                  f"{cell['col']} has no telemetry")


def check_hanging(folder):
    """Waiting for NVML is no part of a cell's time."""
    for fault in ("nvmlInit_v2:2=hang", "nvmlDeviceGetClockInfo:1=hang"):
        code, report, err, _ = run(
            folder, fault, words=("--set", f"defaults.timeout={PATIENCE} s"))
        equal(code, 0, f"{fault}: exit code {err[-300:]}")
        equal({c["state"] for c in cells_of(report)}, FINE, fault)
        if "Init" in fault:
            contains(report["telemetry"]["trouble"] or "",
                     "measured without telemetry: NVML was not open when the "
                     "run ended", fault)


def check_throttled(folder):
    code, report, _, _ = run(folder, "throttle=1", "adaptive")
    equal(code, 3, "throttled: exit code")
    for cell in cells_of(report):
        if cell["col"] == 0:
            equal(cell["state"], "unchecked", "throttled: the other GPU")
            continue
        equal((cell["state"], cell["reason"]), ("invalid", "throttled"),
              "throttled")
        contains(cell["message"], "hardware thermal slowdown", "throttled")
        equal(cell["discarded"], 8, "throttled: samples taken again")
    equal(findings_of(report), [("throttling", "throttled", 1)], "throttled")
    code, report, _, _ = run(folder, "throttle=1",
                             more='telemetry = { throttled = "100 %"; };')
    equal({c["state"] for c in cells_of(report)}, FINE, "throttled: tolerated")
    _, report, _, _ = run(folder, "power_cap=1")
    for cell in cells_of(report):
        equal("power_capped" in cell["flags"], cell["col"] == 1,
              "power cap: flags")


def check_others(folder):
    code, report, err, _ = run(folder, "busy=1@3", "adaptive")
    equal(code, 0, f"busy: exit code {err[-300:]}")
    busy = [c for c in cells_of(report) if "busy" in c["flags"]]
    equal({c["col"] for c in busy}, {1}, "busy: cells")
    check(all(of_gpu(c, 1)["processes"][0].startswith("1 ") for c in busy),
          "busy: who")
    name = of_gpu(busy[0], 1)["processes"][0].split(" ", 1)[1]
    _, report, _, _ = run(folder, "busy=1",
                          more=f'telemetry = {{ ignore = [ "{name}" ]; }};')
    check(not any("busy" in c["flags"] for c in cells_of(report)),
          "busy: ignored")
    idle = "expect = { idle = true; }; telemetry = { settle = \"300 ms\"; %s };"
    code, report, _, _ = run(folder, "busy=1", more=idle % "")
    equal(code, 3, "idle: exit code")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("not_run", "health")}, "idle: cells")
    contains(report["findings"][0]["what"], "GPU 1 is used by 1 ", "idle")
    # Load counts too, whoever makes it.
    code, report, _, _ = run(folder, "busy=1",
                             more=idle % f'ignore = [ "{name}" ];')
    equal(code, 3, "load: exit code")
    contains(report["findings"][0]["what"], "busy for 80 %", "load")
    code, _, _, _ = run(folder, more=idle % "")
    equal(code, 0, "idle: a quiet machine")


def check_link(folder):
    _, report, _, _ = run(folder, "pcie=1@12")
    equal(findings_of(report), [("physical link", "pcie_under_load", 1)],
          "link")
    contains(report["findings"][0]["what"], "Gen5 x8", "link")


def check_degraded(folder):
    """One sentence, and every figure."""
    for faults, words in (
            ("nvmlInit_v2:2+=9", "the kernel module is not loaded"),
            ("nvmlDeviceGetCount_v2:3+=999", "does not count"),
            ("nvmlInit_v2:1+=9", "nvmlInit failed")):
        code, report, _, _ = run(folder, faults)
        equal(code, 0, f"{faults}: exit code")
        equal({c["state"] for c in cells_of(report)}, FINE, faults)
        contains(report["telemetry"]["trouble"] or "", words, faults)


def check_killed(folder):
    """A watch worker that dies is replaced, and in the end done without."""
    folder.write("long.cfg", PLAN % ("fixed", "") + 'duration = "1 h";')
    process = folder.start(
        "--driver", SIM, "--sim-profile", "h200_x2", "-c", "long.cfg",
        "--run-dir", "killed", "--report", "json=killed.json",
        "--report", "text=/dev/null")
    killed = set()
    until = time.monotonic() + 60 * PATIENCE
    while len(killed) < 3 and process.poll() is None and \
            time.monotonic() < until:
        for pid in watch_workers(process.pid) - killed:
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        time.sleep(0.05)
    check(await_journal(process, folder.path / "killed", "ended 3 times"),
          "killed: nobody says that there is no telemetry any more")
    equal(interrupt(process), 4, "killed: exit code")
    report = json.loads((folder.path / "killed.json").read_text())
    equal(len(killed), 3, "killed: watch workers")
    contains(report["telemetry"]["trouble"] or "", "telemetry ends before the "
             "run does: the watch worker ended 3 times", "killed")
    check("unchecked" in {c["state"] for c in cells_of(report)}, "killed: cells")


def check_replaced(folder):
    """Of a watch worker that dies in mid-run no reading is lost, and where its
    replacement does not get as far as reading the report says so."""
    # One reading of each GPU is written at once, the next in a minute. A
    # reading asks for two clocks: the first of both GPUs, and two of each of
    # the first two cells, are over before the worker dies. The second of GPU 1
    # has its Xid. Later cells may do with a reading that was just made.
    rare = 'telemetry = { poll = "1 min"; }; repeat = 4;'
    kill = "nvmlDeviceGetClockInfo:13=kill"
    code, report, err, lines = run(
        folder, f"xid=1@12,{kill},nvmlInit_v2:3=hang", more=rare)
    equal(code, 3, f"not again: exit code {err[-300:]}")
    equal(report["telemetry"]["trouble"],
          "telemetry ends before the run does: the watch worker was replaced, "
          "and NVML was not open again when the run ended", "not again")
    equal(findings_of(report), [("errors counted", "xid", 1)], "not again")
    cells = cells_of(report)
    equal({c["state"] for c in cells}, FINE, "not again: states")
    equal([bool(c["telemetry"]) for c in (*cells[:2], cells[-1])],
          [True, True, False], "not again: cells with telemetry")
    # The replacement reads, but is not told of Xid events.
    code, report, err, lines = run(
        folder, f"xid=1@12,{kill},nvmlEventSetCreate:2=3", more=rare)
    equal(code, 3, f"deaf: exit code {err[-300:]}")
    equal(report["telemetry"]["trouble"], None, "deaf")
    equal(findings_of(report), [("errors counted", "xid", 1)], "deaf")
    series = [x["data"].get("xids") for x in lines if x["type"] == "reading"
              and x["data"]["gpu"] == 1]
    equal(series[1:], [1.0, None], "deaf: series")


def watch_workers(host):
    """Those that have opened NVML."""
    found = set()
    for task in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (task / "cmdline").read_bytes().split(b"\0")
            stat = (task / "stat").read_text()
            parent = int(stat.rsplit(")", 1)[1].split()[1])
            maps = (task / "maps").read_text()
        except (OSError, IndexError, ValueError):
            continue
        if b"watch" in words and parent == host and "libnvml" in maps:
            found.add(int(task.name))
    return found


with Folder() as f:
    check_healthy(f)
    check_off(f)
    check_counters(f)
    check_late(f)
    check_hanging(f)
    check_throttled(f)
    check_others(f)
    check_link(f)
    check_degraded(f)
    check_killed(f)
    check_replaced(f)

finish()
