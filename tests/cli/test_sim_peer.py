# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""ce_d2d on simulated machines: every figure of its eight testcases against
what the profile's numbers give, what is skipped, and peer access that loses
bytes."""
from peer_model import *

CE = Mover("ce_d2d", "ce", "", engines=4)
NAMES, READ, WRITE, BOTH = CE.names, CE.read, CE.write, CE.names[3]

with Folder() as f:
    check_machine(CE, f, "laptop_x4", 4, FIXED)
    check_machine(CE, f, "laptop_x4", 4, ADAPTIVE, tests=NAMES[4:])
    check_machine(CE, f, "h200_x2", 2, FIXED)
    check_machine(CE, f, "h200_x2", 2, ADAPTIVE)
    check_machine(CE, f, "hgx_h200_x8", 8, SMALL, numbers="h200_x2")
    check_machine(CE, f, "hgx_h200_x8", 8, ADAPTIVE, numbers="h200_x2",
                  tests=["one_to_all_read_ce"])

    # Without peer access nothing is measured, and nothing goes by the host.
    code, report, _ = measure(CE, f, "no_peer", SMALL)
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "no_peer_access")}, "no_peer")
    equal(code, 4, "no_peer: exit code, since required is yes")
    code, report, _ = measure(CE, f, "no_peer",
                              SMALL + ' required = "if_possible";')
    equal(code, 0, "no_peer: exit code if possible")

    # One GPU is too few, however many the machine has.
    code, report, _ = measure(CE, f, "laptop_x4", SMALL, "--devices", "0")
    equal({(c["state"], c["reason"]) for c in cells_of(report)},
          {("skip", "too_few_devices")}, "one GPU")
    code, report, _ = measure(CE, f, "laptop_x4", SMALL, "--devices", "1,3",
                              tests=[WRITE])
    equal([(c["state"], c["flows"][0]["executor"]) for c in cells_of(report)],
          [("unchecked", 1), ("unchecked", 3)], "GPUs 1 and 3")

    # Islands: a pair across them is skipped, and so is a GPU's team.
    split = f.write("islands.cfg", (PROFILES / "laptop_x4.cfg").read_text() +
                    'gpus = ( { index = 3; island = 1; } );\n')
    code, report, _ = measure(CE, f, split, SMALL,
                              tests=[WRITE, "one_to_all_write_ce"])
    for cell in cells_of(report):
        across = cell["testcase"] != WRITE or 3 in (cell["row"], cell["col"])
        equal((cell["state"], cell["reason"]),
              ("skip", "no_peer_access") if across
              else ("unchecked", "no_limit"),
              f"islands {cell['testcase']} [{cell['row']},{cell['col']}]")
        if across:
            contains(cell["message"], "cannot address the memory of GPU",
                     "islands: message")

    # p2p: off is staged and says so, both is a sweep over the other two.
    machine = Machine("laptop_x4", 4)
    code, report, _ = measure(CE, f, "laptop_x4", FIXED + ' p2p = "both";',
                              "--report", "text=text", tests=[WRITE, BOTH])
    text = (f.path / "text").read_text()
    equal(text.count("measured while peer access was off: host-staged"), 4,
          "p2p: metrics that are named host-staged")
    equal([u["sweep"] for u in report["units"]], ["p2p=on", "p2p=off"] * 2,
          "p2p: units")
    for cell in cells_of(report):
        unit = report["units"][cell["unit_id"]]
        staged = unit["sweep"] == "p2p=off"
        equal("staged" in cell["flags"], staged, "p2p: flag")
        way = "staged" if staged else "peer_write"
        flows = 2 if cell["metric"] == "total" else 1
        seconds = cell["copies"] * cell["copy_bytes"] / \
            machine.number("rate", way, 0) / 1e9
        check_figure(cell, seconds,
                     flows * cell["copies"] * cell["copy_bytes"],
                     f"p2p {unit['sweep']}")

    # The limits of the plan for acceptance: links x rate x efficiency.
    code, out, err = f.host("check-plan", "-c", "plans/acceptance.cfg",
                            "--explain-limits", "--driver", SIM,
                            "--sim-profile", "h200_x2")
    equal(code, 0, f"acceptance.cfg ({err})")
    link = 18 * 25.0
    for name, limit in ((WRITE, 0.95 * 0.88 * link),
                        (READ, 0.95 * 0.875 * link),
                        (BOTH, 0.88 * 0.87 * link),
                        ("all_to_one_write_ce", 0.88 * 0.88 * link),
                        ("one_to_all_read_ce", 0.88 * 0.875 * link)):
        heads = [line for line in out.splitlines()
                 if line.startswith(name) and ": at least" in line]
        check(heads, f"acceptance.cfg: no limit for {name}")
        contains("".join(heads[:1]), f"at least {limit:.1f} GB/s",
                 f"acceptance.cfg: {name}")

    # Access that is claimed and loses bytes is wrong data, not a figure.
    code, report, _ = measure(CE, f, "laptop_x4", SMALL, tests=[WRITE, READ],
                              env={"NVBW_SIM_FAULTS": "peer:drop"})
    equal(code, 1, "peer:drop: exit code")
    for cell in cells_of(report):
        equal((cell["state"], cell["figure"]), ("mismatch", None),
              "peer:drop")
        contains(cell["message"], f"GPU {cell['row']} reads 0 and writes 512 "
                 f"of 512 words of GPU {cell['col']}'s memory wrong",
                 "peer:drop: message")

finish()
