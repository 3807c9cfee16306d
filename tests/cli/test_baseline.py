# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Baselines and comparisons: a run becomes a baseline, limits in percent of it
find the GPU that got slower, compare says so cell by cell, and neither takes
another machine's figures for its own."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "site";
defaults = { mode = "fixed"; buffer_size = "8 MiB"; samples = 3; };
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; } );
"""
LIMITS = """
limits = ( { match = "*"; min = "98 % of baseline"; } );
"""


def run(folder, name, profile, *more):
    return folder.host("-c", "p.cfg", "-q", "--run-dir", name, *more,
                       "--driver", SIM, "--sim-profile", profile)


def compare(folder, *words):
    code, out, err = folder.host("compare", *words)
    return code, out, err


with Folder() as f:
    f.write("p.cfg", PLAN)
    f.write("limits.cfg", LIMITS)
    for name, profile in (("whole", "hgx_h200_x8"), ("again", "hgx_h200_x8"),
                          ("slow", "hgx_h200_x8_slow_gpu"),
                          ("two", "h200_x2")):
        equal(run(f, name, profile)[0], 0, name)

    # ---- compare ----
    code, out, err = compare(f, "whole", "again")
    equal(code, 0, f"the same machine ({err})")
    contains(out, "8 cells: 8 same, 0 slower", "the same machine")
    code, out, _ = compare(f, "whole", "slow")
    equal(code, 1, "a GPU that got slower")
    contains(out, "SLOWER  ce_h2d/host_to_device_memcpy_ce bandwidth GPU 7: "
             "5", "a GPU that got slower")
    contains(out, "SLOWER: 1 cell is slower, exit 1", "verdict")
    check("GPU 6" not in out, "what is the same is not listed")
    contains(compare(f, "whole", "slow", "-v")[1], "SAME    ce_h2d/", "-v")
    code, out, _ = compare(f, "slow", "whole", "--json")
    document = json.loads(out)
    equal((code, document["schema"], document["exit_code"]),
          (0, "nvbw-compare", 0), "the other way round")
    equal([c["col_label"] for c in document["cells"]
           if c["verdict"] == "FASTER"], ["GPU 7"], "faster cells")
    equal(compare(f, "whole", "slow", "--margin", "10 %")[0], 0, "--margin")
    code, _, err = compare(f, "whole", "two")
    equal(code, 2, "another machine")
    contains(err, "the runs are of different machines: vm has 8 GPUs"
             .replace("vm", document["new"]["host"]), "another machine")
    equal(compare(f, "whole", "two", "--force")[0], 0, "--force")
    for words, why in ((("whole",), "compare needs two runs"),
                       (("whole", "gone"), "opening gone"),
                       (("whole", "p.cfg"), "p.cfg:1: not JSON"),
                       (("whole", "again", "--margin", "2"), "no margin"),
                       (("whole", "again", "--margin", "0.5"),
                        'is 50 %; write "0.5 %"'),
                       (("whole", "again", "--margin", "x"), "--margin: ")):
        code, out, err = compare(f, *words)
        equal((code, out), (2, ""), f"compare {words}")
        contains(err, why, f"compare {words}")

    # Other parameters are another plan.
    run(f, "larger", "hgx_h200_x8", "--set", 'defaults.buffer_size="32 MiB"')
    code, _, err = compare(f, "whole", "larger")
    equal(code, 2, "another plan")
    contains(err, "different plans: host_to_device_memcpy_ce was measured "
             "with buffer_size = 8 MiB there, and 32 MiB here", "another plan")

    # ---- baseline ----
    code, out, err = f.host("baseline", "whole", "-o", "b.ndjson")
    equal((code, out.split(" of ")[0]), (0, "b.ndjson: 8 cells"),
          f"baseline ({err})")
    equal(f.host("baseline", "whole", "-o", "b.ndjson")[0], 2, "it is there")
    equal(f.host("baseline", "whole", "-o", "b.ndjson", "--force")[0], 0,
          "--force")
    equal(compare(f, "b.ndjson", "slow")[0], 1, "compare with a baseline")

    by = ("-c", "limits.cfg", "--baseline", "b.ndjson")
    equal(run(f, "pass", "hgx_h200_x8", *by)[0], 0, "98 % of baseline")
    equal(run(f, "fail", "hgx_h200_x8_slow_gpu", *by)[0], 1, "a slow GPU")
    code, _, err = run(f, "other", "h200_x2", *by)
    equal(code, 2, "a baseline of another machine")
    contains(err, "the baseline b.ndjson is of another machine", "why")
    check(not (f.path / "other").exists(), "nothing was run")
    # A failed cell is no measure.
    code, out, _ = f.host("baseline", "fail", "-o", "c.ndjson")
    contains(out, "7 cells of", "baseline of a run that failed")
    contains(out, "1 left out", "baseline of a run that failed")

    # Of several runs: what they differ by is part of it.
    run(f, "third", "hgx_h200_x8")
    code, out, err = f.host("baseline", "whole", "again", "third", "-o",
                            "three.ndjson")
    equal((code, out), (0, f"three.ndjson: 8 cells of "
                        f"{document['new']['host']} in 3 runs\n"), err)
    code, out, _ = compare(f, "three.ndjson", "slow", "--json")
    cells = {c["col_label"]: c for c in json.loads(out)["cells"]}
    equal((code, cells["GPU 7"]["verdict"], cells["GPU 7"]["kind"],
           cells["GPU 7"]["old"]["attempts"]),
          (1, "SLOWER", "runs of the baseline", 3), "three runs' baseline")
    equal(run(f, "by_three", "hgx_h200_x8", "-c", "limits.cfg", "--baseline",
              "three.ndjson")[0], 0, "98 % of the baseline of three runs")
    code, out, _ = f.host("baseline", "whole", "fail", "-o", "two.ndjson")
    contains(out, "in 2 runs; 3 and more also say", "two runs are few")
    for words, why in ((("whole", "two"), "of different machines"),
                       (("whole", "larger"), "of different plans"),
                       ((), "baseline needs a run directory")):
        code, _, err = f.host("baseline", *words, "-o", "no.ndjson")
        equal(code, 2, f"baseline {words}")
        contains(err, why, f"baseline {words}")

    # The run keeps its baseline, and is judged by it anywhere.
    (f.path / "b.ndjson").unlink()
    shutil.move(f.path / "fail", f.path / "moved")
    code, out, err = f.host("report", "moved", "--report", "json=r.json", "-q")
    contains(out, "FAILED", f"report of a moved run ({err})")
    cell = json.loads((f.path / "r.json").read_text())["units"][0]["cells"][7]
    equal(cell["limit"]["text"], "98 % of baseline", "limit")
    contains(cell["limit"]["formula"], "the baseline of 2", "formula")
    equal(f.host("verify", "moved")[0], 0, "its sums")
    (f.path / "moved" / "baseline.ndjson").write_text("{}\n")
    code, _, err = f.host("report", "moved", "-q")
    equal(code, 2, "a spoilt copy")
    contains(err, "moved/baseline.ndjson:1: not a line of a journal", "why")

    # Mistakes in a plan's baseline have their place.
    f.write("p2.cfg", PLAN + 'baseline = "p.cfg";\n')
    code, _, err = f.host("check-plan", "-c", "p2.cfg")
    equal(code, 2, "a baseline that is none")
    contains(err, "plan p2.cfg:5: baseline: p.cfg:1: not JSON", "its place")

finish()
