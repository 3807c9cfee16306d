# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Burn-in on the simulated driver: rounds are judged one by one, a GPU that
gets slower while it runs is named with its slope, a steady one is not, pauses
are made, and `duration` and `repeat` go together."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "burn_in";
repeat = 10;
defaults = { mode = "fixed"; buffer_size = "8 MiB"; copies = 2; samples = 3;
  warmup = 0; verify = false; };
limits = ( { match = "*"; min = "80 % of expected"; } );
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; } );
"""
COOL_MS = 30


def run(folder, name, profile, *more):
    text = folder.path / f"{name}.txt"
    code, report, err = folder.report(
        "-c", "p.cfg", "-q", "--run-dir", name, "--report", f"text={text}",
        "--driver", SIM, "--sim-profile", profile, *more)
    if report is None:
        finish()
    return code, report, text.read_text()


def states(report, col):
    return [c["state"] for c in cells_of(report) if c["col"] == col]


with Folder() as f:
    f.write("p.cfg", PLAN)
    # At half from about the sixth round on.
    f.write("fade.cfg", 'base = "h200_x2"; name = "fade"; '
            'faults = "slow=1@220";')

    code, report, text = run(f, "steady", "h200_x2")
    equal((code, report["findings"]), (0, []), "a steady machine")
    equal(len(report["trends"]), 2, "its trends")
    for trend in report["trends"]:
        equal((trend["rounds"], trend["falls"]), (10, False), "its trends")
        check(abs(trend["change"]) < 0.01, f"steady: {trend}")
        check(trend["change_low"] <= trend["change"] <= trend["change_high"],
              f"steady: {trend}")
    contains(text, "  0 of 2 cells fall\n  least good: host_to_device",
             "a steady machine's text")

    code, report, text = run(f, "fading", "./fade.cfg")
    equal(code, 1, "limits are each round's")
    equal(states(report, 0), ["pass"] * 10, "GPU 0")
    own = states(report, 1)
    check(own[0] == "pass" and own[-1] == "fail", f"GPU 1: {own}")
    equal(own, sorted(own, reverse=True), "GPU 1, from pass to fail")
    found = [x for x in report["findings"] if x["id"] == "falls"]
    equal([(x["family"], x["gpu"]) for x in found], [("trend", 1)], "findings")
    contains(found[0]["what"], "GPU 1 gets slower from round to round: "
             "host_to_device_memcpy_ce by ", "finding")
    contains(found[0]["what"], ") over 10 rounds", "finding")
    equal([x["falls"] for x in report["trends"]], [False, True], "trends")
    contains(text, "  falls: host_to_device_memcpy_ce bandwidth GPU 1: -",
             "text")
    contains(text, "  1 of 2 cells fall\n", "text")

    # Too few rounds for a slope; each still has its limits.
    code, report, text = run(f, "short", "./fade.cfg", "--set", "repeat=5")
    equal(report["trends"], [], "five rounds")
    check("Trend" not in text, "five rounds have no trend in the text")

    # A pause after each testcase, and rounds that `duration` adds.
    code, report, _ = run(f, "paused", "h200_x2", "--set", "repeat=2", "--set",
                          'duration="1 ms"', "--set",
                          f'cooldown="{COOL_MS} ms"')
    equal((code, len(report["units"])), (0, 2),
          "rounds of a duration that is over")
    first, second = [u["cells"] for u in report["units"]]
    pause = min(c["begin_ns"] for c in second) - \
        max(c["end_ns"] for c in first)
    check(pause >= COOL_MS * 1e6, f"a pause of {pause} ns")
    # One that is not over begins rounds until somebody stops it.
    longer = f.start("-c", "p.cfg", "-q", "--run-dir", "longer", "--driver", SIM,
                     "--sim-profile", "h200_x2", "--set", "repeat=1", "--set",
                     'duration="1 h"', "--report", "json=longer.json")
    check(await_journal(longer, f.path / "longer", r'"round": ?2\b'),
          "a third round of a duration")
    equal(interrupt(longer), 4, "a duration that is stopped")
    report = json.loads((f.path / "longer.json").read_text())
    rounds = [u["round"] for u in report["units"]]
    equal(rounds, list(range(len(rounds))), "rounds of a duration")

finish()
