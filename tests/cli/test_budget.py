# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""--budget: a plan that does not fit gets fewer samples and some of the pairs;
what is left out is told on stderr, in each cell and in the report."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "site";
defaults = { required = "if_possible"; buffer_size = "1 MiB"; verify = false; };
suites = ( { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_read_ce" ];
  } );
"""
SIMULATED = ("--driver", SIM, "--sim-profile", "hgx_h200_x8")

with Folder() as f:
    f.write("p.cfg", PLAN)
    for name in ("one", "two"):
        code, out, err = f.host("-c", "p.cfg", "--budget", "6 s", "--run-dir",
            name, "--report", f"json={name}.json", *SIMULATED)
        # On a slow machine the budget ends the run, which is told.
        end = json.loads((f.path / f"{name}.json").read_text())["run"]
        equal(code, 4 if end["budget_used"] else 0, f"{name}: exit ({err})")
    words = "the budget is 6 s and the plan takes about 10 s, at most 8 " \
        "samples a cell, 30 of 56 pairs of GPUs in each matrix, chosen by " \
        "the seed"
    contains(err, words, "what is left out")
    contains(" ".join(out.split()), "skip (excluded), 26 cells, the first at "
             "GPU 0 >", "text")
    reports = [json.loads((f.path / f"{n}.json").read_text())
               for n in ("one", "two")]
    equal((reports[0]["counts"]["skip"], reports[0]["counts"]["planned"]),
          (26, 56), "counts")
    unit = reports[0]["units"][0]
    equal(unit["params"]["max_samples"], ["8"], "samples")
    left = [[c["col_label"] + c["row_label"] for c in r["units"][0]["cells"]
             if c["state"] == "skip"] for r in reports]
    equal(left[0], left[1], "the same pairs are left out")
    messages = {c["message"] for c in unit["cells"]
                if c["reason"] == "excluded"}
    equal(messages, {"left out to fit the budget: 30 of 56 pairs are measured"},
          "message")
    measured = {g for c in unit["cells"] if c["state"] != "skip"
                for g in (c["row_label"], c["col_label"])}
    equal(len(measured), 8, "GPUs that are measured")

    lines = (f.path / "one" / "journal.ndjson").read_text().splitlines()
    events = [json.loads(l)["data"] for l in lines if '"event"' in l]
    check(any(e["what"] == "warning" and e["text"] == words for e in events),
          "the journal tells it")

    # Told before anything runs, too; where it is enough there are no words.
    _, _, err = f.host("-c", "p.cfg", "--budget", "6 s", "--dry-run",
                       *SIMULATED)
    contains(err, words, "dry run")
    _, _, err = f.host("-c", "p.cfg", "--budget", "10m", "--dry-run",
                       *SIMULATED)
    check("budget" not in err, f"enough: {err}")

finish()
