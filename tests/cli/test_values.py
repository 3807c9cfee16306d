# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Groups of parameters in a plan, and what testcases themselves say of values:
check-plan, run and --dry-run name file and line of all that is wrong, and run
nothing. A check() that breaks the contract is named."""
from harness import *

PLUGIN = BUILD / "tests" / "contract" / "plugins" / "value_checks"
HEAD = 'name = "values";\nsuites = ( { plugin = "value_checks"; params = {\n'
TAIL = "\n}; } );\n"


def ask(params, *words, command=("check-plan",)):
    """Line 3 of the plan is the first of params."""
    with Folder() as f:
        f.write("p.cfg", HEAD + params + TAIL)
        return f.host(*command, "-c", "p.cfg", "--plugin-dir", PLUGIN,
                      "--trust-plugins", *words)


def refused(what, params, *sentences, words=(), count=None):
    code, out, err = ask(params, *words)
    equal(code, 2, f"{what}: exit code ({out}{err})")
    for sentence in sentences:
        contains(err, sentence, what)
    lines = [line for line in err.splitlines() if "p.cfg:" in line]
    equal(len(lines), len(sentences) if count is None else count,
          f"{what}: mistakes {lines}")


GOOD = """parts = ( { name = "one"; bytes = "2 MiB"; kind = "cold, really"; },
  { name = "two"; }, { name = "three"; bytes = "4 KiB"; } );"""

# What is right is read as it stands, with defaults for keys left out.
with Folder() as folder:
    folder.write("p.cfg", HEAD + GOOD + TAIL)
    code, report, err = folder.report(
        "-c", "p.cfg", "--plugin-dir", PLUGIN, "--trust-plugins",
        "--run-dir", "r")
    equal(code, 0, f"good: exit code {err}")
    cells = cells_of(report)
    equal([c["figure"] for c in cells],
          [1048576 + 4096, 2097152, 1048576, 4096], "good: figures")
    contains(json.dumps(report["units"]), '["one", "two", "three"]',
             "good: rows")
    # A run that ended is judged again from its journal, groups and all.
    code, out, err = folder.host("report", "r", "--report", "json=again.json")
    equal(code, 0, f"good: report {out}{err}")
    again = json.loads((folder.path / "again.json").read_text())
    equal([c["figure"] for c in cells_of(again)],
          [c["figure"] for c in cells], "good: figures again")
    # An overlay replaces the list as a whole; so does --set.
    folder.write("q.cfg", 'suites = ( { plugin = "value_checks"; params = { '
                 'parts = ( { name = "four"; bytes = "8 B"; } ); }; } );')
    for more in (["-c", "q.cfg"],
                 ["--set", 'suites.value_checks.params.parts=( { name = "four";'
                           ' bytes = "8 B"; } )']):
        code, out, err = folder.host("check-plan", "-c", "p.cfg", *more,
                                     "--plugin-dir", PLUGIN, "--trust-plugins")
        equal(code, 0, f"overlay {more}: {out}{err}")

# The host: keys and their values.
refused("unknown key", 'parts = ( { name = "a"; byts = "2 B"; } );',
        'plan p.cfg:3: parts "a": unknown key "byts", did you mean "bytes"')
refused("missing key", 'parts = ( { name = "a"; },\n  { bytes = "2 B"; } );',
        'plan p.cfg:4: parts, group 2: the key "name" is missing')
refused("bad size", 'parts = ( { name = "a";\n  bytes = "2"; } );',
        'plan p.cfg:4: parts "a": parameter "parts.bytes": "2"')
refused("too large", 'parts = ( { name = "a"; bytes = "2 GiB"; } );',
        'plan p.cfg:3: parts "a": parameter "parts.bytes": "2 GiB" is above')
refused("no choice", 'parts = ( { name = "a"; kind = "warm"; } );',
        'plan p.cfg:3: parts "a": parameter "parts.kind": "warm" is not one of')
refused("all at once",
        'parts = ( { nam = "a"; },\n { name = "b"; bytes = "x"; } );',
        'p.cfg:3: parts, group 1: unknown key "nam", did you mean "name"',
        'p.cfg:3: parts, group 1: the key "name" is missing',
        'p.cfg:4: parts "b": parameter "parts.bytes"')
refused("a list in a group", 'parts = ( { name = [ "a", "b" ]; } );',
        'plan p.cfg:3: "name" must be one value, not a group or a list', count=2)
refused("a group in a group", 'parts = ( { name = { x = 1; }; } );',
        'plan p.cfg:3: "name" must be one value, not a group or a list', count=2)
refused("not groups only", 'parts = ( { name = "a"; }, "b" );',
        'plan p.cfg:3: "parts" must be a list of groups')
refused("values for groups", 'parts = [ "a", "b" ];',
        'plan p.cfg:3: parameter "parts" is a list of groups')
refused("one group", 'parts = { name = "a"; };',
        'plan p.cfg:3: "parts" must be a value or a list, not a group')
refused("groups for values",
        f'{GOOD}\nleast = ( {{ name = "a"; }} );',
        'plan p.cfg:5: parameter "least" takes values, not groups')
refused("a key as a parameter", f'{GOOD}\n bytes = "2 B";',
        'plan p.cfg:5: unknown parameter "bytes"')
refused("too many", "parts = ( " + ", ".join(['{ name = "a"; }'] * 4097) +
        " );", 'plan p.cfg:3: "parts" has 4097 groups, it may have 4096')

# The testcase.
refused("none", "", "plan p.cfg:2: there are no parts")
refused("odd", 'parts = ( { name = "a";\n bytes = "3 B"; }, { name = "b"; '
        'bytes = "5 B"; } );', 'plan p.cfg:4: part "a" is odd',
        'plan p.cfg:4: part "b" is odd')
refused("group", f'{GOOD}\nleast = "8 KiB";', 'plan p.cfg:4: part "three" is small')
# At every point of a sweep, each mistake once.
refused("sweep", f'{GOOD}\nleast = [ "1 B", "8 KiB", "9 KiB", "3 MiB" ];',
        'p.cfg:3: part "one" is small', 'p.cfg:4: part "two" is small',
        'p.cfg:4: part "three" is small', count=3)
# Of testcases that are not to run nothing is asked.
code, out, err = ask('parts = ( { name = "a"; bytes = "3 B"; } );', "-t",
                     "other", command=("run",))
check("is odd" not in err, f"not asked: {err}")

# run and --dry-run call it too, and run nothing.
for words in ([], ["--dry-run"]):
    with Folder() as folder:
        folder.write("p.cfg", HEAD + 'parts = ( { name = "a"; bytes = "3 B"; } );'
                     + TAIL)
        code, out, err = folder.host(
            "-c", "p.cfg", "--plugin-dir", PLUGIN, "--trust-plugins",
            "--run-dir", "r", *words)
        equal(code, 2, f"run {words}: exit code")
        contains(err, 'plan p.cfg:3: part "a" is odd', f"run {words}")
        contains(err, "1 mistake in the plan, nothing was run", f"run {words}")
        check(not (folder.path / "r").exists(), f"run {words}: a run folder")

for deed, words in {
        "measures": "C28: measure() was called from check()",
        "places": "C28: places() was called from check()",
        "fails": "C28: check() returned -5",
        "undeclared": "C28: refuse() needs a parameter that is declared",
        "beyond": "C28: refuse() needs a parameter that is declared",
        "crashes": "check worker"}.items():
    refused(deed, f'{GOOD}\ndeed = "{deed}";', words)
    code, out, err = ask(f'{GOOD}\ndeed = "{deed}";')
    contains(err, 'plan p.cfg:2: suite "value_checks": testcase value_checks '
             "could not check its parameters", deed)

with Folder() as folder:
    code, out, err = folder.host("help", "value_checks", "--plugin-dir", PLUGIN,
                                 "--trust-plugins")
    for words in ("parts (group list)", "parts.name (text, must be given)",
                  "parts.bytes (size, default 1 MiB, at most 1 GiB)"):
        contains(out, words, "help")
finish()
