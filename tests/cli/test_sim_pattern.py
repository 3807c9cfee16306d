# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The plugin pattern on simulated machines: flows of a plan are those of the
testcases that are made for them, with the same figures, and rings, bisections
and crossings of NUMA nodes give what the profile says. Every flow that is wrong
is refused with its name, file and line; what a machine has not got is a skip
with the same words."""
from harness import *

HEAD = """name = "p";
defaults = { mode = "fixed"; samples = 1; warmup = 0; copies = 4;
  buffer_size = "4 MiB"; required = "if_possible"; };
suites = (
%s
"""
MADE_FOR_IT = """ { plugin = "ce_d2d"; }, { plugin = "ce_h2d"; tests = [
    "host_to_device_memcpy_ce", "host_to_all_memcpy_ce" ]; },
  { plugin = "sm_d2d"; tests = [ "device_to_device_memcpy_read_sm" ]; },"""


def suite(flows, name="pattern"):
    return (f'  {{ id = "{name}"; plugin = "pattern"; params = {{ flows = (\n'
            f"{flows}\n); }}; }}\n);")


def run(profile, suites, *words):
    """(exit code, {testcase: {(metric, label or row, col): cell}}, report)"""
    with Folder() as f:
        f.write("p.cfg", HEAD % suites)
        code, report, err = f.report(
            "--driver", SIM, "--sim-profile", profile, "-c", "p.cfg",
            "--run-dir", "r", *words, timeout=200)
        units = {}
        labels = {data["testcase"]: {s["metric"]: s.get("row_labels")
                                     for s in data["shapes"]}
                  for kind, data in journal(f.path / "r") if kind == "unit"}
        for cell in cells_of(report or {"units": []}):
            names = labels[cell["testcase"]][cell["metric"]]
            row = names[cell["row"]] if cell["testcase"] == "pattern" \
                else cell["row"]
            units.setdefault(cell["testcase"], {})[
                cell["metric"], row, cell["col"]] = cell
        return code, units, err


TICK = 0.5e-6  # of the simulated events


def near(got, wanted, where, bytes_=4 * (4 << 20)):
    """The same time but for a tick of the clock at each end."""
    check(got is not None and
          abs(bytes_ / got - bytes_ / wanted) <= 2 * TICK,
          f"{where}: {got}, not {wanted:.6g}")


PAIRS = """ { name = "write"; from = "gpu:*"; to = "gpu:*"; order = "in_turn"; },
  { name = "read"; from = "gpu:*"; to = "gpu:*"; on = "to"; by = "sm";
    order = "in_turn"; },
  { name = "there"; group = "both"; from = "gpu:0"; to = "gpu:1"; },
  { name = "back"; group = "both"; from = "gpu:1"; to = "gpu:0"; },
  { name = "down"; from = "host"; to = "gpu:*"; order = "in_turn"; },
  { name = "all down"; from = "host"; to = "gpu:*"; },
  { name = "into one"; from = "gpu:*"; to = "gpu:0"; }"""


def check_same(profile, gpus):
    """Flow for flow what the testcases made for it give."""
    code, units, err = run(profile, MADE_FOR_IT + suite(PAIRS))
    equal(code, 0, f"{profile}: exit code {err}")
    mine = units["pattern"]

    def figure(name, metric="bandwidth"):
        return mine[metric, name, 0]["figure"]

    def theirs(testcase, row, col, metric="bandwidth"):
        return units[testcase][metric, row, col]["figure"]

    for one in range(gpus):
        near(figure(f"down host0>gpu{one}") if profile != "pcie_dual_socket"
             else figure(f"down host{one // 2}>gpu{one}"),
             theirs("host_to_device_memcpy_ce", 0, one), f"{profile}: down {one}")
        for other in range(gpus):
            if one == other:
                continue
            near(figure(f"write gpu{one}>gpu{other}"),
                 theirs("device_to_device_memcpy_write_ce", one, other),
                 f"{profile}: write {one} {other}")
            near(figure(f"read gpu{one}>gpu{other}"),
                 theirs("device_to_device_memcpy_read_sm", other, one),
                 f"{profile}: read {one} {other}")
            near(figure(f"write gpu{one}>gpu{other}", "total"),
                 figure(f"write gpu{one}>gpu{other}"),
                 f"{profile}: total of one {one} {other}")
    name = "device_to_device_bidirectional_memcpy_write_ce"
    near(figure("both", "total"), theirs(name, 0, 1, "total"),
         f"{profile}: both ways")
    near(figure("there gpu0>gpu1"), theirs(name, 0, 1, "forward"),
         f"{profile}: there")
    for cell in mine.values():
        equal((cell["mismatches"], cell["state"]), (0, "unchecked"),
              f"{profile}: {cell['metric']} {cell['row']}")


check_same("h200_x2", 2)

# By hand from the profiles: 4 copies of 4 MiB each, a copy's cost and the rate
# of its way; the clock of events ticks every 0.5 us.
SIZE, COPIES = 4 << 20, 4


def rate(of_one, cost_us):
    return SIZE / (SIZE / (of_one * 1e9) + cost_us * 1e-6)


FLOWS = """ { name = "ring"; from = "gpu:*"; to = "gpu:+1"; },
  { name = "back"; from = "gpu:*"; to = "gpu:-1"; },
  { name = "half"; from = "gpu:*"; to = "gpu:+half"; },
  { name = "all"; from = "gpu:*"; to = "gpu:*"; size = "1 MiB"; repeats = 1; }"""
code, units, err = run("hgx_h200_x8", suite(FLOWS))
equal(code, 0, f"x8: exit code {err}")
cells = units["pattern"]
for name, step in (("ring", 1), ("back", 7), ("half", 4)):
    figures = [cells["bandwidth", f"{name} gpu{i}>gpu{(i + step) % 8}", 0]
               ["figure"] for i in range(8)]
    # Each GPU sends and takes at once, 786 GB/s both ways together.
    for i, figure in enumerate(figures):
        near(figure, rate(393.0, 4.5), f"x8 {name} {i}")
    total = cells["total", name, 0]
    near(total["figure"], 8 * rate(393.0, 4.5), f"x8 {name}: total",
         8 * COPIES * SIZE)
    equal(len(total["flows"]), 8, f"x8 {name}: flows")
rows = [key for key in cells if key[0] == "bandwidth" and
        key[1].startswith("all ")]
equal(len(rows), 56, "x8 all: flows")
equal(cells["bandwidth", "all gpu3>gpu7", 0]["copy_bytes"], 1 << 20,
      "x8 all: size")

# Two sockets: nodes near and far, by their numbers and from the GPU.
NUMA = """ { name = "near"; from = "host"; to = "gpu:*"; order = "in_turn"; },
  { name = "far"; from = "host:far"; to = "gpu:*"; order = "in_turn"; },
  { name = "one"; from = "host:1"; to = "gpu:0"; },
  { name = "of 3"; from = "gpu:0"; to = "host:gpu:3"; },
  { name = "cross"; from = "host:*"; to = "host:*"; by = "cpu";
    order = "in_turn"; },
  { name = "reading"; op = "read"; from = "gpu:1"; by = "sm"; },
  { name = "writing"; op = "write"; to = "host:gpu:1"; on = "gpu:1"; by = "sm"; },
  { name = "loaded"; group = "load"; from = "host"; to = "gpu:2"; },
  { name = "load"; group = "load"; background = true; from = "host";
    to = "gpu:3"; },
  { name = "third"; from = "gpu:0"; to = "gpu:2"; on = "gpu:0"; },
  { name = "pages"; from = "host"; to = "gpu:0"; from_memory = "pageable"; }"""
code, units, err = run("pcie_dual_socket", suite(NUMA))
equal(code, 0, f"numa: exit code {err}")
cells = units["pattern"]
for gpu in range(4):
    near(cells["bandwidth", f"near host{gpu // 2}>gpu{gpu}", 0]["figure"],
         rate(26.3, 2.0), f"numa: near {gpu}")
    far = cells["bandwidth", f"far host{1 - gpu // 2}>gpu{gpu}", 0]
    equal((far["flows"][0]["src_place"], far["flows"][0]["dst_place"]),
          (1 - gpu // 2, gpu), f"numa: far {gpu}")
for name, key in (("one host1>gpu0", "src_place"),
                  ("of 3 gpu0>host1", "dst_place")):
    equal(cells["bandwidth", name, 0]["flows"][0][key], 1, name)
equal(len([k for k in cells if k[1].startswith("cross host")]), 8, "numa: cross")
flow = cells["bandwidth", "reading gpu1", 0]["flows"][0]
equal((flow["operation"], flow["initiator"], flow["executor"]),
      ("read", "sm", 1), "numa: a read")
equal(cells["bandwidth", "pages host0>gpu0", 0]["clock"], "host", "numa: pages")
equal(cells["bandwidth", "loaded host1>gpu2", 0]["flows"][1]["counted"], 0,
      "numa: background")
check(("bandwidth", "load host1>gpu3", 0) not in cells, "numa: no row for load")

# What is not here: a skip of the whole group, with flow, file and line.
LACKS = """ { name = "nine"; group = "some"; from = "gpu:0"; to = "gpu:9"; },
  { name = "here"; group = "some"; from = "gpu:0"; to = "gpu:1"; },
  { name = "far"; from = "host:far"; to = "gpu:*"; },
  { name = "ring"; from = "gpu:*"; to = "gpu:+2"; },
  { name = "by 7"; from = "gpu:0"; to = "gpu:1"; on = "gpu:7"; },
  { name = "a"; group = "t"; from = "gpu:*"; to = "gpu:0"; order = "in_turn"; },
  { name = "b"; group = "t"; from = "gpu:0"; to = "gpu:1"; order = "in_turn"; },
  { name = "good"; from = "gpu:0"; to = "gpu:1"; }"""
code, units, err = run("h200_x2", suite(LACKS))
equal(code, 0, f"lacks: exit code {err}")
for (metric, row, _), cell in units["pattern"].items():
    if row.startswith("good"):
        equal(cell["state"], "unchecked", f"lacks: {row}")
        continue
    equal((cell["state"], cell["reason"]), ("skip", "too_few_devices"), row)
    words = {"nine": 'flow "nine" (p.cfg:6)', "some": 'flow "nine" (p.cfg:6)',
             "here": 'flow "nine" (p.cfg:6)', "far": 'flow "far" (p.cfg:8)',
             "ring": "these places are not here: 2 GPUs are selected",
             "by": 'flow "by 7" (p.cfg:10): GPU 7', "t": "cannot take turns",
             "a": "cannot take turns", "b": "cannot take turns"}
    contains(cell["message"], words[row.split()[0]], row)

# GPUs go by the numbers of reports.
code, units, err = run("hgx_h200_x8", suite(
    ' { name = "ring"; from = "gpu:*"; to = "gpu:+1"; },'
    '{ name = "zero"; from = "gpu:0"; to = "gpu:5"; }'), "--devices", "5,2,3")
equal(sorted(k[1] for k in units["pattern"] if k[0] == "bandwidth"),
      ["ring gpu2>gpu3", "ring gpu3>gpu5", "ring gpu5>gpu2", "zero"], "numbers")

# Every mistake, with its flow, file and line.
MISTAKES = [
    ('{ name = "a"; from = "gpu:0"; to = "gpu:x"; }',
     '"gpu:x" is no place; places are gpu:N'),
    ('{ name = "a"; from = "gpu:0"; to = "gpu:+0"; }', '"gpu:+0" is no place'),
    ('{ name = "a"; from = "gpu:99999999999"; to = "gpu:0"; }', "is no place"),
    ('{ name = "a"; to = "gpu:0"; }', '"from" is missing'),
    ('{ name = "a"; from = "gpu:0"; }', '"to" is missing'),
    ('{ name = "a"; from = "gpu:+1"; to = "gpu:-1"; }',
     "both ends depend on each other"),
    ('{ name = "a"; from = "host"; to = "gpu:+1"; }',
     "both ends depend on each other"),
    ('{ name = "a"; from = "host:0"; to = "gpu:+1"; }',
     "depends on the GPU of the other end, which is none"),
    ('{ name = "a"; from = "host:0"; to = "gpu:same"; }',
     '"gpu:same" where the other end is a host'),
    ('{ name = "a"; from = "gpu:0"; to = "gpu:1"; on = "cpu"; }',
     '"cpu" cannot copy; "on" is from, to or gpu:N'),
    ('{ name = "a"; from = "host:0"; to = "gpu:1"; on = "from"; }',
     'a host cannot do it by "ce"'),
    ('{ name = "a"; from = "host:0"; to = "host:1"; }',
     'a host cannot do it by "ce"'),
    ('{ name = "a"; from = "host:0"; to = "gpu:1"; by = "cpu"; }',
     '"cpu" moves bytes between host memories only'),
    ('{ name = "a"; op = "read"; from = "gpu:0"; }',
     "copy engines copy, they do not read"),
    ('{ name = "a"; op = "read"; from = "gpu:0"; to = "gpu:1"; by = "sm"; }',
     '"to" has no meaning for this op'),
    ('{ name = "a"; op = "write"; to = "host:0"; by = "sm"; }',
     "which GPU touches the host's memory"),
    ('{ name = "a"; from = "gpu:0"; to = "gpu:1"; to_memory = "pinned"; }',
     "a GPU has no pinned memory"),
    ('{ name = "a"; from = "host"; to = "gpu:1"; from_memory = "vmm"; }',
     "a host has no vmm memory"),
    ('{ name = "a"; op = "read"; from = "gpu:0"; by = "sm"; '
     'to_memory = "device"; }', "this op has no memory there"),
    ('{ name = "a"; from = "host:0"; to = "host:1"; by = "cpu"; '
     'to_memory = "pinned"; }', "what a CPU moves is pageable"),
    ('{ name = ""; from = "gpu:0"; to = "gpu:1"; }', '"name" has from 1 to 40'),
    ('{ name = "' + "a" * 41 + '"; from = "gpu:0"; to = "gpu:1"; }',
     '"name" has from 1 to 40'),
    ('{ name = "a"; background = true; from = "gpu:0"; to = "gpu:1"; }',
     'nothing but background in group "a"'),
    ('{ name = "b"; from = "gpu:0"; to = "gpu:1"; },\n{ name = "b"; '
     'from = "gpu:1"; to = "gpu:0"; }', "another flow has this name, at p.cfg:6"),
    ('{ name = "b"; group = "g"; from = "gpu:0"; to = "gpu:1"; },\n{ name = "c";'
     ' group = "g"; order = "in_turn"; from = "gpu:1"; to = "gpu:0"; }',
     'its group "g" has another order, at p.cfg:6'),
    ('{ name = "b"; group = "g"; from = "gpu:0"; to = "gpu:1"; },\n{ name = "c";'
     ' group = "g"; by = "cpu"; from = "host:0"; to = "host:1"; }',
     "flows by the CPU and by others cannot start together"),
    ('{ name = "a"; from = "gpu:0"; too = "gpu:1"; }',
     'flows "a": unknown key "too", did you mean "to"'),
    ('{ name = "a"; from = "gpu:0"; to = "gpu:1"; by = "dma"; }',
     '"dma" is not one of ce, sm, tma, cpu'),
    ('{ name = "a"; from = "gpu:0"; to = "gpu:1"; from_memory = "multicast"; }',
     '"multicast" is not one of auto, pinned'),
]
with Folder() as f:
    for flows, words in MISTAKES:
        f.write("p.cfg", HEAD % suite(flows))
        code, out, err = f.host("check-plan", "-c", "p.cfg")
        equal(code, 2, f"{flows}: exit code {out}{err}")
        contains(err, words, flows)
        line = 7 if "\n" in flows else 6
        contains(err, f"plan p.cfg:{line}: flow", flows)
    f.write("p.cfg", 'suites = (\n{ plugin = "pattern"; } );')
    code, out, err = f.host("check-plan", "-c", "p.cfg")
    contains(err, "plan p.cfg:2: plugin pattern has no flows", "none")

    # The shipped plan, on a machine and on none.
    code, out, err = f.host("check-plan", "-c", "plans/pattern.cfg")
    equal(code, 0, f"shipped: {err}")
    code, out, err = f.host(
        "--driver", SIM, "--sim-profile", "gb200_nvl72", "--dry-run", "-q",
        "-c", "plans/pattern.cfg")
    equal(code, 0, f"shipped, 72 GPUs: {err}")
finish()
