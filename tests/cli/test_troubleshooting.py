# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""docs/troubleshooting.md has an entry for every exit code, state, reason,
finding and driver code that the program can say, and for no other. What the
table of reasons says of one, the page says in the same words. And every flag of
a record has its line in the text report."""
import re

from harness import *

PAGE = (SOURCE / "docs/troubleshooting.md").read_text()


def rows(title):
    """The cells of a section's table, without its head."""
    part = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]]
            for line in lines]


def source(path):
    return (SOURCE / path).read_text()


def told(title, wanted):
    names = [row[0] for row in rows(title)]
    equal(sorted(names), sorted(wanted), title)
    for row in rows(title):
        check(all(row) or row[0] == "pass", f"{title}: {row[0]} says nothing")


states = re.findall(r'X\(\w+, \d+, "(\w+)"\)',
                    source("plugin_api/common/state.h"))
told("States", set(states) - {"none", "measured"})

table = re.findall(r'\{ "(\w+)", (TOPOLOGY|SETUP|STATE_\w+)(?:, REASON_\w+)?,'
                   r'\s*"([^"]*)"', source("plugin_api/common/state.c"))
check(len(table) > 40, "the table of reasons is read")
skips = {code: text for code, state, text in table
         if state in ("TOPOLOGY", "SETUP")}
others = {code: text for code, state, text in table if code not in skips}
for title, wanted in (("Skip reasons", skips),
                      ("Reasons of other states", others)):
    told(title, wanted)
    for row in rows(title):
        equal(row[1], wanted.get(row[0]), f"{title}: {row[0]}")

ids = set()
for path in (SOURCE / "host/judge").glob("*.c"):
    ids |= set(re.findall(r'\.id = "(\w+)"|static const char \w*id\[\] = "(\w+)"',
                          path.read_text()))
ids = {name for pair in ids for name in pair if name}
told("Findings", ids)

codes = re.findall(r'\{ (\d+), "(\w+)", [01],\s*"',
                   source("plugin_api/runtime/driver_codes.c"))
check(len(codes) > 15, "the table of driver codes is read")
told("Driver codes", {code for code, _ in codes})
equal([row[:2] for row in rows("Driver codes")],
      [list(pair) for pair in codes], "driver codes and their names")

# The text report has a line for every flag that makes a figure doubtful.
flags = set()
for where in ("plugin_api/runtime", "host/workers"):
    for path in (SOURCE / where).glob("*.c"):
        flags |= set(re.findall(r'(?:settle|add)_flag\([^;]*, "(\w+)"', path.read_text()))
check(len(flags) > 10, f"the flags that records get: {flags}")
shown = re.search(r"\} flags\[\] = \{(.*?)\};",
                  source("host/report/report_text.c"), re.S)[1]
equal(set(re.findall(r'\{ "(\w+)"', shown)), flags, "flags in the text report")

with Folder() as f:
    _, usage, _ = f.host("--help")
    exits = re.findall(r"^  (\d)  (.*)$", usage, re.M)
    equal([row[:2] for row in rows("Exit codes")], [list(x) for x in exits],
          "exit codes")

finish()
