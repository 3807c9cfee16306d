# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The man page and the completion say what the program says."""
import re

from harness import *

PAGE = SOURCE / "docs/nvbw-host.1"
COMPLETION = SOURCE / "scripts/completion/nvbw-host"


def complete(*words):
    """What bash offers for the last word."""
    line = " ".join(f"'{w}'" for w in words)
    script = f"""
    source {COMPLETION}
    COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}
    compopt() {{ :; }}
    _nvbw_host
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    result = subprocess.run(["bash", "-c", script], capture_output=True,
                            text=True, check=False, cwd=SOURCE)
    equal(result.stderr, "", f"completion of {words}")
    return set(result.stdout.split())


def check_page(usage):
    text = PAGE.read_text()
    told = set(re.findall(r"(?:Fl|,) -([a-zA-Z][a-zA-Z-]+)",
                          "\n".join(re.findall(r"^\.It Fl .*", text, re.M))))
    there = set(re.findall(r"^ +(?:-\w, )?--([a-zA-Z-]+)", usage, re.M))
    equal(told, there, "options of the man page and of --help")
    letters = set(re.findall(r"^\.It Fl (\w) ,", text, re.M))
    equal(letters, set(re.findall(r"^ +-(\w), --", usage, re.M)), "letters")
    commands = re.search(r"^commands:\n(.*?)\n\n", usage, re.S | re.M).group(1)
    names = set(re.findall(r"^  ([a-z-]+) ", commands, re.M))
    equal(set(re.findall(r"^\.It Cm ([a-z-]+)", text, re.M)), names, "commands")
    codes = re.findall(r"^  (\d)  ", usage, re.M)
    equal(re.findall(r"^\.It (\d)$", text, re.M), codes, "exit codes")
    if shutil.which("mandoc"):
        result = subprocess.run(["mandoc", "-Tlint", "-W", "warning",
                                 str(PAGE)], capture_output=True, text=True,
                                check=False)
        equal((result.returncode, result.stdout), (0, ""), "mandoc")
    return names, {"--" + name for name in there}


with Folder() as f:
    _, usage, _ = f.host("--help")
    commands, options = check_page(usage)
    _, formats, _ = f.host("help", "reports")
    formats = {line.split()[0] for line in formats.splitlines()}
    for name in formats:
        check(re.search(rf"\b{name}\b", PAGE.read_text()),
              f"format {name} in the man page")

    equal(complete(HOST, ""), commands, "commands")
    equal(complete(HOST, "res"), {"resume"}, "a command begun")
    check(options <= complete(HOST, "-"), "options")
    equal(complete(HOST, "run", "--rep"), {"--report"}, "an option begun")
    equal(complete(HOST, "--report", ""), {x + "=" for x in formats}, "formats")
    contains(complete(HOST, "-c", "plans/q"), "plans/quick.cfg", "plans")
    contains(complete(HOST, "--sim-profile", "h200"), "h200_x2", "profiles")
    contains(complete(HOST, "-t", "host_to_dev"), "host_to_device_memcpy_ce",
             "testcases")
    contains(complete(HOST, "--report", "csv", "=", "READ"), "README.md",
             "files")

finish()
