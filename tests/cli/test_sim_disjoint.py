# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""concurrency = "disjoint" on simulated machines: every pair has its cell, the
figures are those of a quiet machine where the switch blocks nothing, they say
what they are, the measurements grow with the GPUs and not with the pairs, and
what goes wrong with one pair is that pair's alone."""
from harness import *

FULL = "mode = \"fixed\"; copies = 4; samples = 3; warmup = 1;"
TESTS = {"ce_d2d": ["device_to_device_memcpy_read_ce",
                    "device_to_device_bidirectional_memcpy_write_ce"],
         "sm_d2d": ["device_to_device_memcpy_write_sm"],
         "tma": ["device_to_device_bidirectional_memcpy_read_tma"]}


def plan(tests, params, rest=""):
    suites = ", ".join(
        f"{{ plugin = \"{plugin}\"; tests = [ " +
        ", ".join(f"\"{name}\"" for name in names) + f" ]; {rest} }}"
        for plugin, names in tests.items())
    return (f"name = \"disjoint\"; defaults = {{ {FULL} {params} }};\n"
            f"suites = ( {suites} );\n")


def records(folder, run_dir):
    lines = (folder.path / run_dir / "journal.ndjson").read_text().splitlines()
    return [o["data"] for o in map(json.loads, lines) if o["type"] == "cell"]


def measurements(cells, unit):
    return len({c["begin_ns"] for c in cells if c["unit"] == unit})


def run(folder, text, profile, run_dir, *words, faults=None):
    folder.write("p.cfg", text)
    env = {"NVBW_SIM_FAULTS": faults} if faults else None
    return folder.report("--driver", SIM, "--sim-profile", profile, "-c",
                         "p.cfg", "--run-dir", run_dir, "--quiet", *words,
                         env=env)


def compare(folder):
    """Quiet and concurrent side by side on eight GPUs."""
    text = plan(TESTS, "buffer_size = \"256 MiB\"; "
                "concurrency = [ \"alone\", \"disjoint\" ];")
    code, report, err = run(folder, text, "hgx_h200_x8", "both")
    equal(code, 0, f"both ways of measuring ({err[-300:]})")
    check_conservation(report)
    cells = records(folder, "both")
    quiet = {}
    for number, unit in enumerate(report["units"]):
        beside = "disjoint" in unit["sweep"]
        name = unit["testcase"]
        equal(measurements(cells, number), 2 * 7 if beside else 8 * 7,
              f"{name} {unit['sweep']}: measurements")
        for cell in unit["cells"]:
            key = (name, cell["metric"], cell["row"], cell["col"])
            equal("concurrent" in cell["flags"], beside, f"{key}: flag")
            equal(len(cell["flows"]), 2 if "bidirectional" in name else 1,
                  f"{key}: flows")
            if not beside:
                quiet[key] = cell["figure"]
            elif check(key in quiet and cell["figure"], f"{key}: no figure"):
                check(abs(cell["figure"] / quiet[key] - 1) < 0.002,
                      f"{key}: {cell['figure']}, alone {quiet[key]}")
    equal(len(cells), 2 * len(quiet), "cells")
    code, out, err = folder.host("report", "both", "--report", "text=-")
    contains(out, "concurrent: 56 of 56 cells were measured while others were",
             "text report")


def growth(folder):
    for gpus in (2, 3, 4, 8):
        for how, wanted in (("alone", gpus * (gpus - 1)),
                            ("disjoint", 2 * (gpus - 1 + gpus % 2))):
            text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                        f"buffer_size = \"256 MiB\"; concurrency = \"{how}\"; "
                        f"devices = \"0-{gpus - 1}\";")
            name = f"{how}-{gpus}"
            code, report, err = run(folder, text, "hgx_h200_x8", name)
            equal(code, 0, f"{name} ({err[-300:]})")
            cells = records(folder, name)
            equal(len(cells), gpus * (gpus - 1), f"{name}: cells")
            equal(measurements(cells, 0), wanted, f"{name}: measurements")
            # Three GPUs leave one pair a round, which is alone.
            equal({"concurrent" in c.get("flags", []) for c in cells},
                  {how == "disjoint" and gpus > 3}, f"{name}: flags")


def rack(folder):
    text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                "buffer_size = \"1 GiB\"; concurrency = \"disjoint\";")
    code, report, err = run(folder, text, "gb200_nvl72", "rack")
    equal(code, 0, f"rack ({err[-300:]})")
    check_conservation(report)
    cells = records(folder, "rack")
    equal(len(cells), 72 * 71, "rack: cells")
    equal(measurements(cells, 0), 2 * 71, "rack: measurements")
    low = min(c["figure"] for c in cells_of(report))
    high = max(c["figure"] for c in cells_of(report))
    check(high / low < 1.001, f"rack: from {low} to {high}")


# A profile in which one pair of four cannot: GPU 3 is on an island.
ISLAND = """
base = "laptop_x4"; name = "island";
gpus = ( { index = 3; island = 1; } );
"""


def troubles(folder):
    folder.write("island.cfg", ISLAND)
    text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                "buffer_size = \"256 MiB\"; concurrency = \"disjoint\";",
                "required = \"no\";")
    run(folder, text, "./island.cfg", "island")
    for cell in records(folder, "island"):
        pair = {cell["row"], cell["col"]}
        equal(cell["state"], "skip" if 3 in pair else "measured",
              f"island {pair}: state")
        check("concurrent" not in cell.get("flags", []),
              f"island {pair}: was measured beside one that could not be")

    # One call fails: its round is measured again, pair by pair.
    run(folder, text, "hgx_h200_x8", "refused", faults="cuMemcpyAsync:40=1")
    cells = records(folder, "refused")
    equal([c["state"] for c in cells], ["measured"] * 56, "refused: states")
    equal(sum("concurrent" not in c["flags"] for c in cells), 4,
          "refused: cells of the round that was measured again")
    equal(measurements(cells, 0), 14 + 3, "refused: measurements")



def wrong_data(folder):
    """One bit is the word on one cell, and where it strikes the proof that
    peer access works, on none: each pair is then proved by itself."""
    text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                "buffer_size = \"8 MiB\"; concurrency = \"disjoint\"; "
                "devices = \"0-3\";", "required = \"no\";")
    struck = 0
    for number in range(20, 60):
        name = f"flip{number}"
        run(folder, text, "hgx_h200_x8", name, faults=f"copy:flip={number}")
        cells = records(folder, name)
        wrong = [c for c in cells if c["state"] == "mismatch"]
        equal(len(cells), 12, f"{name}: cells")
        check(len(wrong) <= 1, f"{name}: {len(wrong)} cells are wrong")
        struck += len(wrong)
        if struck:
            break
    check(struck, "no flipped bit was seen")


def again(folder):
    """A limit that a GPU with a dead link misses is confirmed in the same company, and a
    run that was cut off is taken up again."""
    text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                "buffer_size = \"256 MiB\"; concurrency = \"disjoint\"; "
                "confirm = 1;",
                "limits = ( { match = \"*\"; min = \"95 % of expected\"; } );")
    code, report, err = run(folder, text, "hgx_h200_x8_nvlink_down",
                            "slow")
    equal(code, 1, f"slow: exit code ({err[-300:]})")
    failed = {(c["row"], c["col"]) for c in cells_of(report)
              if c["state"] == "fail"}
    cells = records(folder, "slow")
    check(0 < len(failed) <= 14, f"slow: {len(failed)} cells fail")
    equal({(c["row"], c["col"]) for c in cells if c["attempt"] == 1}, failed,
          "slow: confirmed cells")
    check(all("concurrent" in c["flags"] for c in cells), "slow: flags")

    code, report, err = run(folder, text, "hgx_h200_x8", "cut")
    equal(code, 0, f"cut: exit code ({err[-300:]})")
    before = records(folder, "cut")[:30]
    journal = folder.path / "cut" / "journal.ndjson"
    lines = journal.read_bytes().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if json.loads(line)["type"] ==
          "cell"]
    journal.write_bytes(b"".join(lines[:at[30]]))
    code, report, err = folder.report("--driver", SIM, "--sim-profile",
                                      "hgx_h200_x8", "resume", "cut")
    if check(report, f"resumed: {err}"):
        equal(code, 0, f"resumed: exit code ({err[-300:]})")
        equal({c["state"] for c in cells_of(report)}, {"pass"},
              "resumed: states")
    after = records(folder, "cut")
    equal(after[:30], before, "resumed: what was there")
    equal(len({(c["row"], c["col"]) for c in after}), 56, "resumed: cells")
    equal(len(after), 56, "resumed: cells, each once")
    # Of the round that was cut through, the missing pairs in full company.
    check(all("concurrent" in c["flags"] for c in after), "resumed: flags")
    equal(measurements(after, 0), 14 + 1, "resumed: measurements")


def ends(folder):
    """A worker that dies takes one cell along, not all that were in flight."""
    text = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                "buffer_size = \"256 MiB\"; concurrency = \"disjoint\"; "
                "devices = \"0-3\";", "required = \"no\";")
    # In every worker, so that no round comes to an end and some cells do.
    run(folder, text, "hgx_h200_x8", "sticky", faults="cuMemcpyAsync:40=719")
    cells = records(folder, "sticky")
    states = [c["state"] for c in cells]
    equal(len(states), 12, "sticky: cells")
    equal(set(states), {"measured", "error"}, "sticky: states")
    equal({c.get("reason") for c in cells}, {None, "driver"},
          "sticky: reasons")
    check(states.count("measured") >= 8, f"sticky: {states}")

    # The first measurement's fifth copy is a lost GPU's; the others go on.
    code, report, err = run(folder, text, "hgx_h200_x8", "lost",
                            faults="gpu_lost=1@60")
    for cell in records(folder, "lost"):
        pair = (cell["row"], cell["col"])
        if 1 not in pair:
            equal(cell["state"], "measured", f"lost {pair}: state")


def bridges(folder):
    """PCIe peers share bridges: pairs that are slow together are no finding,
    and whoever asks for it is warned, with the place. One by one they are
    compared."""
    limits = "limits = ( { match = \"*\"; min = \"97 % of siblings\"; } );"
    beside = plan({"ce_d2d": ["device_to_device_memcpy_write_ce"]},
                  "buffer_size = \"1 GiB\"; concurrency = \"disjoint\";",
                  limits)
    code, report, err = run(folder, beside, "pcie_switched", "bridges")
    equal(code, 1, f"bridges: exit code ({err[-300:]})")
    equal(report["findings"], [], "bridges: findings")
    check("warning" not in err, f"bridges: warned though quiet ({err})")
    for profile, wanted in (("pcie_switched", True), ("hgx_h200_x8", False)):
        folder.write("p.cfg", beside)
        _, _, err = folder.host("--driver", SIM, "--sim-profile", profile,
                                "-c", "p.cfg", "--dry-run")
        told = "plan p.cfg:1: concurrency = \"disjoint\" is for GPUs on a" \
            " switch of NVLink: GPU 0 and GPU 1 have PCIe between them"
        equal(err.count(told), int(wanted), f"{profile}: warnings in {err}")


with Folder() as f:
    compare(f)
    bridges(f)
    growth(f)
    rack(f)
    troubles(f)
    wrong_data(f)
    again(f)
    ends(f)

finish()
