# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Each bad plugin ends in its own named outcome, and the suite after it is
still measured and reported. Arguments: K/N for the K-th of N parts of the
table, or names of plugins."""
from harness import *

FOLDER = BUILD / "tests" / "contract" / "plugins"
TABLE = SOURCE / "tests" / "contract" / "expected.txt"


def rows():
    for line in TABLE.read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            yield words


def plan(plugin, testcase, states):
    tests = "" if testcase == "*" else f'tests = [ "{testcase}" ];'
    # Who hangs is ended soon; the others may have a busy machine.
    timeout = "1 s" if "timeout" in states else "30 s"
    return f"""
    name = "{plugin}";
    defaults = {{ timeout = "{timeout}"; buffer_size = "1 MiB"; }};
    suites = ( {{ plugin = "{plugin}"; {tests} }},
               {{ plugin = "null"; tests = [ "null_cell" ];
                  params = {{ cells = 3; }}; }} );
    """


def leftovers():
    out = subprocess.run(["ps", "-eo", "comm"], capture_output=True, text=True,
                         check=False).stdout
    return [line for line in out.splitlines()
            if "nvbw_child" in line or "nvbw_escaped" in line]


def matches(wanted, seen):
    """"-" stands for a state's own reason, or for none."""
    return wanted == "-" or wanted == seen


def part_of(table, words):
    if len(words) == 1 and "/" in words[0]:
        part, parts = map(int, words[0].split("/"))
        return table[part - 1::parts]
    return [row for row in table if not words or row[0] in words]


for plugin, testcase, states, reasons, code_wanted in part_of(
        list(rows()), sys.argv[1:]):
    with Folder() as f:
        f.write("p.cfg", plan(plugin, testcase, states))
        code, report, err = f.report(
            "-c", "p.cfg", "--run-dir", "r", "--plugin-dir", FOLDER / plugin,
            "--trust-plugins")
        if report is None:
            continue
        mine = [c for c in cells_of(report) if c["plugin"] == plugin]
        equal([c["state"] for c in mine], states.split(","),
              f"{plugin}: states ({[c['message'] for c in mine]}; {err})")
        for cell, reason in zip(mine, reasons.split(",")):
            check(matches(reason, cell["reason"]),
                  f"{plugin}: reason {cell['reason']}, not {reason}")
            if cell["state"] not in ("unchecked", "pass"):
                check(cell["message"], f"{plugin}: no message")
        equal(code, int(code_wanted), f"{plugin}: exit code ({err})")
        check("\x1b" not in err, f"{plugin}: it reaches the terminal")
        rest = [c["state"] for c in cells_of(report) if c["plugin"] == "null"]
        equal(rest, ["unchecked"] * 3, f"{plugin}: the suite after it")
        equal(leftovers(), [], f"{plugin}: processes that outlived the run")

finish()
