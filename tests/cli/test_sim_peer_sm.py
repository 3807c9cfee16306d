# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""sm_d2d on simulated machines: every figure of its eight testcases against
what the profile's numbers give, and what kernels cannot do."""
from peer_model import *

SM = Mover("sm_d2d", "sm", "_sm", engines=64)

with Folder() as f:
    check_machine(SM, f, "laptop_x4", 4, FIXED)
    check_machine(SM, f, "h200_x2", 2, FIXED)
    check_machine(SM, f, "h200_x2", 2, ADAPTIVE)
    check_machine(SM, f, "hgx_h200_x8", 8, SMALL, numbers="h200_x2",
                  tests=SM.names[4:])

    # Kernels have no way around peer access.
    for profile, more in (("no_peer", ""), ("laptop_x4", ' p2p = "off";')):
        code, report, _ = measure(SM, f, profile, SMALL + more)
        equal({(c["state"], c["reason"]) for c in cells_of(report)},
              {("skip", "no_peer_access")}, f"{profile}{more}")
        equal(code, 4, f"{profile}{more}: exit code, since required is yes")
    code, report, _ = measure(SM, f, "h200_x2", SMALL, "--devices", "0")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "too_few_devices")}, "one GPU")

    # Flows of one GPU that run one after another are no figure of a team.
    code, report, _ = measure(SM, f, "laptop_x4", SMALL,
                              tests=["one_to_all_read_sm",
                                     "all_to_one_read_sm"],
                              env={"NVBW_SIM_FAULTS": "kernel:serial"})
    for cell in cells_of(report):
        serial = cell["testcase"] == "one_to_all_read_sm"
        equal(cell["reason"], "serialised" if serial else "no_limit",
              f"kernel:serial {cell['testcase']}")

    code, report, _ = measure(SM, f, "laptop_x4", SMALL, tests=[SM.write],
                              env={"NVBW_SIM_FAULTS": "peer:drop"})
    equal(code, 1, "peer:drop: exit code")
    equal({c["state"] for c in cells_of(report)}, {"mismatch"}, "peer:drop")

    # The limits of the plan for acceptance.
    code, out, err = f.host("check-plan", "-c", "plans/acceptance.cfg",
                            "--explain-limits", "--driver", SIM,
                            "--sim-profile", "h200_x2")
    equal(code, 0, f"acceptance.cfg ({err})")
    link = 18 * 25.0
    for name, limit in (("all_to_one_write_sm", 0.88 * 0.82 * link),
                        (SM.read, 0.95 * 0.835 * link),
                        (SM.names[2], 0.88 * 0.75 * link),
                        ("one_to_all_read_sm", 0.88 * 0.835 * link)):
        heads = [line for line in out.splitlines()
                 if line.startswith(name) and ": at least" in line]
        check(heads, f"acceptance.cfg: no limit for {name}")
        contains("".join(heads[:1]), f"at least {limit:.1f} GB/s",
                 f"acceptance.cfg: {name}")

finish()
