# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Each example of configs/sites does what its first lines say, on a simulated
machine of the right kind. An example without a case here is a mistake."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

SITES = SOURCE / "configs" / "sites"
# The installed plan with copies of a moment, of two testcases.
QUICK = ("-t", "host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "--set",
         'defaults.mode="fixed"', "--set", 'defaults.buffer_size="8 MiB"',
         "--set", "defaults.samples=3", "--set", "defaults.confirm=0")
PLAN = "plans/acceptance.cfg"
tried = set()
runs = 0


def run(folder, sites, profile, *more, plan=PLAN, quick=QUICK):
    """Returns exit code, JSON report and text."""
    global runs
    runs += 1
    tried.update(sites)
    words = [w for site in sites for w in ("-c", f"sites/{site}.cfg")]
    code, out, err = folder.host("-c", plan, *words, *quick, *more,
        "--run-dir", f"r{runs}", "--report", f"json=r{runs}.json", "--driver",
        SIM, "--sim-profile", profile)
    path = folder.path / f"r{runs}.json"
    check(path.exists(), f"{sites} on {profile}: {err}")
    return code, json.loads(path.read_text()) if path.exists() else {}, out


def explained(folder, site, profile):
    tried.add(site)
    code, out, err = folder.host("check-plan", "-c", PLAN, "-c",
        f"sites/{site}.cfg", "--explain-limits", "--driver", SIM,
        "--sim-profile", profile)
    equal(code, 0, f"{site} ({err})")
    return out


def limit_of(text, cell):
    return "".join(line.split(": ", 1)[1] for line in text.splitlines()
                   if line.startswith(cell + ":"))


with Folder() as f:
    # The machine is the one, or nothing is measured.
    equal(run(f, ["hgx_h200_x8"], "hgx_h200_x8")[0], 0, "eight H200")
    code, report, _ = run(f, ["hgx_h200_x8"], "hgx_h200_x8_link_x8")
    equal((code, report["counts"]["not_run"]), (3, 16), "a narrow slot")
    contains(report["findings"][0]["what"], "GPU 5 has 8", "a narrow slot")

    # The narrow slot is known.
    code, report, out = run(f, ["hgx_h200_x8", "narrow_slot"],
                            "hgx_h200_x8_link_x8")
    equal((code, report["counts"]["fail"], report["counts"]["pass"]),
          (0, 2, 14), f"a known slot ({out})")
    equal((report["acceptances"][0]["cells"],
           report["acceptances"][0]["findings"]), (2, 2), "what is covered")
    # And it is no excuse for another GPU.
    equal(run(f, ["narrow_slot"], "hgx_h200_x8_gen3")[0], 1, "another defect")

    text = explained(f, "floors", "hgx_h200_x8")
    for cell, words in (
            ("host_to_device_memcpy_ce bandwidth GPU 0", "at least 48.00 GB/s"),
            ("host_to_device_memcpy_ce bandwidth GPU 4", "at least 46.00 GB/s"),
            ("device_to_host_memcpy_sm bandwidth GPU 4", "at least 48.00 GB/s"),
            ("device_to_device_memcpy_read_ce bandwidth GPU 1 > GPU 0",
             "at least 380.0 GB/s"),
            ("device_to_device_memcpy_read_ce bandwidth GPU 1 > GPU 2",
             "at least 335.0 GB/s"),
            ("device_to_device_memcpy_read_sm bandwidth GPU 1 > GPU 2",
             "95 % of expected")):
        contains(limit_of(text, cell), words, cell)
    contains(text, "warns below 50.00 GB/s, 50 GB/s", "warn")

    # Its own figures find the GPU that became slow.
    code, _, err = run(f, [], "hgx_h200_x8")
    equal(f.host("baseline", f"r{runs}", "-o", "before.ndjson")[0], 0,
          "baseline")
    by = ("--baseline", "before.ndjson")
    equal(run(f, ["after_update"], "hgx_h200_x8", *by)[0], 0, "all is well")
    code, report, _ = run(f, ["after_update"], "hgx_h200_x8_slow_gpu", *by)
    equal((code, report["counts"]["fail"]), (1, 2), "GPU 7 became slow")

    text = explained(f, "own_efficiency", "h200_x2")
    contains(text, "x 0.82 (ce h2d alone; h200_vm.cfg:11, estimate: an "
             "example", "own efficiency")
    contains(text, "(sm h2d alone; h200.cfg:", "the installed ones stay")

    code, report, _ = run(f, ["alike"], "hgx_h200_x8_slow_gpu",
                          plan="plans/quick.cfg")
    equal((code, report["counts"]["fail"]), (1, 2), "GPU 7 differs")

equal(tried, {path.stem for path in SITES.glob("*.cfg")}, "examples tried")

finish()
