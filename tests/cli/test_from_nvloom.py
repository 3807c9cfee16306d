# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""from-nvloom: a CSV file of nvloom as a plan that check-plan takes and that
measures the same traffic; what has no counterpart is said, with its line, and
what cannot be read makes no plan."""
from harness import *

COLUMNS = ("measurement_id, bandwidth/latency, gpu_src_id, gpu_dst_id, "
           "iteration_count, mem_src_type, mem_dst_type, write/read, "
           "ce/sm/multicast, buffer_size, comment, result [GB/s] [ns]\n")
GOOD = COLUMNS + """\
0, Bandwidth, 0, 1, default, device, device, write, ce, 64K, There @include "x"
0, bandwidth, 1, 0, 4, device, device, write, CE, 64k, and back, 371.5
1, bandwidth, 1, 0, 2, device, device, read, sm, 1m,

2, bandwidth, 0, 1, default, egm, device, read, ce, 4096, , 12
3, bandwidth, 0, 1, default, device, device, write, ce, default, under load
3, latency, 1, 0, 40000, device, ignored, ignored, ignored, ignored, under load
4, bandwidth, 0, 0, default, device, multicast, write, multicast, 1g, to all
"""
BAD = [("x, bandwidth, 0, 1, 1, device, device, write, ce, 1k", "no number of"),
       ("0, width, 0, 1, 1, device, device, write, ce, 1k", "neither bandwidth"),
       ("0, bandwidth, -1, 1, 1, device, device, write, ce, 1k", "of a source"),
       ("0, bandwidth, 0, , 1, device, device, write, ce, 1k", "a destination"),
       ("0, bandwidth, 0, 1, 0, device, device, write, ce, 1k", "iterations"),
       ("0, bandwidth, 0, 1, 1, ram, device, write, ce, 1k", "kind of memory"),
       ("0, bandwidth, 0, 1, 1, device, device, up, ce, 1k", "neither write"),
       ("0, bandwidth, 0, 1, 1, device, device, write, dma, 1k", "none of ce"),
       ("0, bandwidth, 0, 1, 1, device, device, write, ce, 1t", "no size"),
       ("0, bandwidth, 0, 1, 1, device, device, write, ce, 9999999999999g",
        "no size"), ("0, bandwidth, 0, 1", "fewer than ten columns")]

with Folder() as f:
    f.write("in.csv", GOOD.replace("\n", "\r\n"))
    code, plan, err = f.host("from-nvloom", "in.csv")
    equal(code, 0, f"exit code {err}")
    for words in ("in.csv:8: measurement 3 is left out: a latency has no flow",
                  "in.csv:9: measurement 4 is left out: multicast has no flow"):
        contains(err, words, "left out")
    for words in ('# There @include "x"', "# nvloom's result: 371.5 GB/s",
                  'from = "host:gpu:0"; to = "gpu:1"', 'size = "65536 B"',
                  "repeats = 4"):
        contains(plan, words, "the plan")
    check("under load" not in plan, "a measurement is left out whole")
    f.write("p.cfg", plan)
    code, out, err = f.host("check-plan", "-c", "p.cfg")
    equal(code, 0, f"check-plan: {err}")
    code, report, err = f.report(
        "--driver", SIM, "--sim-profile", "h200_x2", "-c", "p.cfg",
        "--run-dir", "r", "--set", "defaults.mode=fixed", "--set",
        "defaults.samples=1")
    equal(code, 0, f"run: {err}")
    flows = [c["flows"] for c in cells_of(report) if c["metric"] == "total"]
    seen = [[(x["initiator"], x["src_memory"], x["src_place"], x["dst_place"],
              x["executor"], x["bytes"]) for x in one] for one in flows]
    equal(seen, [[("ce", "device", 0, 1, 0, 65536),
                  ("ce", "device", 1, 0, 1, 65536)],
                 [("sm", "device", 1, 0, 0, 1 << 20)],
                 [("ce", "pinned", 0, 1, 1, 4096)]], "flows")

    for line, words in BAD:
        f.write("bad.csv", COLUMNS + line + "\n")
        code, out, err = f.host("from-nvloom", "bad.csv")
        equal((code, out), (2, ""), line)
        contains(err, "bad.csv:2: ", line)
        contains(err, words, line)
    for text, words in ((COLUMNS, "nothing that a plan can say"),
                        ("", "nothing that a plan can say"),
                        (GOOD[len(COLUMNS):], "none.csv:1: a measurement where"),
                        (COLUMNS + GOOD.splitlines()[7], "nothing that")):
        f.write("none.csv", text)
        code, out, err = f.host("from-nvloom", "none.csv")
        equal((code, out), (2, ""), "nothing")
        contains(err, words, "nothing")
    code, out, err = f.host("from-nvloom", "missing.csv")
    equal(code, 2, "no file")
    code, out, err = f.host("from-nvloom")
    equal(code, 2, "no argument")
finish()
