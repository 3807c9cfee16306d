# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every shipped plan is sound, without a warning, so is what its comments tell to
set, each has limits to explain, and a row in docs/durations.md with what --dry-run
estimates for 2, 4 and 8 GPUs. In plans over MPI each GPU stands for a rank."""
import re

from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PAGE = (SOURCE / "docs" / "durations.md").read_text()
FOUR = 'base = "hgx_h200_x8"; name = "four"; count = 4;'


def told(plan):
    """The cells of the plan's row in the first table, or None."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].split(",")[0] == plan:
            return cells[1:]
    return None


def estimate(folder, plan, profile):
    code, out, err = folder.host("-c", f"plans/{plan}", "--dry-run", "-q",
                                 "--driver", SIM, "--sim-profile", profile)
    equal(code, 0, f"{plan} on {profile} ({err})")
    last = out.strip().splitlines()[-1]
    contains(last, "estimated: ", f"{plan} on {profile}")
    return last.removeprefix("estimated: ").split(" a round, ")[0]


with Folder() as f:
    f.write("four.cfg", FOUR)
    plans = sorted((SOURCE / "configs" / "plans").glob("*.cfg"))
    check(len(plans) >= 5, f"plans: {plans}")
    for path in plans:
        if PATIENCE == 1:  # sanitizers see no more in it than in estimates
            code, _, err = f.host("check-plan", "-c", f"plans/{path.name}",
                                  "--explain-limits", "--driver", SIM,
                                  "--sim-profile", "h200_x2")
            equal((code, err), (0, ""), f"check-plan of {path.name}")
        for value in re.findall(r'--set ([\w.]+=(?:"[^"]*"|[\w.]*\w))',
                                path.read_text()):
            code, _, err = f.host("check-plan", "-c", f"plans/{path.name}",
                                  "--set", value.replace('"', ""))
            equal((code, err), (0, ""), f"{path.name} with {value}")
        row = told(path.name)
        if check(row is not None, f"{path.name} has no row"):
            equal(row, [estimate(f, path.name, profile) for profile in
                        ("h200_x2", "./four.cfg", "hgx_h200_x8")], path.name)

    # A round's estimate, and for how long there are rounds.
    code, out, _ = f.host("-c", "plans/burn_in.cfg", "--dry-run", "-q",
                          "--driver", SIM, "--sim-profile", "h200_x2")
    contains(out, " a round, new rounds for 4 h 0 min\n", "burn_in.cfg")

finish()
