# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The pages keep to the program: each block marked `sh` is run on a simulated
machine, and all other commands in them have options, commands and plans that
there are (what needs MPI, Slurm or a day is run by tests of its own); tables of keys and parameters are what
`nvbw-host help` prints, links lead somewhere. NVBW_DOCS=write renews the
tables."""
import re
from harness import *

PAGES = ["README.md", "docs/reports.md", "docs/field.md",
         "docs/first-limit.md", "docs/troubleshooting.md", "docs/run-plan.md",
         "docs/from-nvbandwidth.md", "docs/fleet.md"]
TABLE = re.compile(r"(<!-- help (\w+) -->\n```text\n)(.*?)(```\n)", re.S)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.S | re.M)
LINK = re.compile(r"\]\(([^)#:]+)\)")

# Eight simulated GPUs, and copies so small that a run takes a moment.
PRELUDE = f"""
set -e
nvbw-host() {{
  local quick=()
  case $1 in
  -*) quick=(--set 'defaults.mode="fixed"' \\
      --set 'defaults.buffer_size="4 MiB"' --set defaults.samples=1 \\
      --set suites.hostmem.enabled=false) ;;
  esac
  case " $* " in " -c plans/acceptance.cfg "*)
    # The whole plan takes minutes, and copies this small miss its limits on
    # memory and links between GPUs.
    quick+=(-t host_to_device_memcpy_ce device_to_host_memcpy_ce) ;;
  esac
  case "$1 $* " in -*" -c "*) ;; -*)
    # nvbandwidth's flags: a suite is a testcase there, and has no list.
    quick=(--set 'defaults.buffer_size="1 MiB"') ;;
  esac
  case " $* " in *suites.hostmem.enabled* | *" -c compare.cfg "* | *" -c first.cfg "*)
    unset 'quick[7]' 'quick[6]' ;; esac
  "{HOST}" --driver "{SIM}" --sim-profile hgx_h200_x8 "$@" "${{quick[@]}}" \\
      >/dev/null
}}
"""

COMMAND = re.compile(r"(?:^|[ `/$])nvbw-host((?: [^`\n\\]*(?:\\\n)?)+)", re.M)


def check_commands(f):
    """Words of all commands in all pages."""
    _, usage, _ = f.host("--help")
    names = re.search(r"^commands:\n(.*?)\n\n", usage, re.S | re.M).group(1)
    names = set(re.findall(r"^  ([a-z-]+) ", names, re.M))
    for name in names:
        usage += f.host(name, "--help")[1]
    options = set(re.findall(r"--[a-zA-Z-]+", usage))
    count = 0
    for path in [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")]:
        text = path.read_text()
        blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.S | re.M)
        for block in blocks + re.findall(r"`([^`\n]+)`", text):
            for words in COMMAND.findall(block):
                words = re.split(r" [|&;>#] ?| && ", words)[0]
                words = [w for w in words.replace("\\\n", " ").split() if w]
                told = [re.split("=", w)[0] for w in words
                        if re.match(r"--[a-z]", w)]
                wrong = set(told) - options
                check(not wrong, f"{path.name}: {words}: {wrong}")
                check(not words or not re.fullmatch(r"[a-z]+(-[a-z]+)?", words[0])
                      or words[0] in names or len(words) == 1 or not told,
                      f"{path.name}: {words}: no such command")
                for plan in re.findall(r"\bplans/\w+\.cfg", " ".join(words)):
                    check((SOURCE / "configs" / plan).is_file(),
                          f"{path.name}: no {plan}")
                count += bool(told)
    check(count > 30, f"only {count} commands are found in the pages")


with Folder() as f:
    check_commands(f)
    for page in PAGES:
        path = SOURCE / page
        text = path.read_text()
        for _, topic, body, _ in TABLE.findall(text):
            code, out, err = f.host("help", topic)
            if os.environ.get("NVBW_DOCS") == "write":
                text = text.replace(
                    f"<!-- help {topic} -->\n```text\n{body}```",
                    f"<!-- help {topic} -->\n```text\n{out}```")
                path.write_text(text)
            else:
                check(body == out, f"{page}: the table of `help {topic}` is "
                      "not what the program prints")
        for link in LINK.findall(text):
            check((path.parent / link).exists(), f"{page}: no {link}")
        for block in BLOCK.findall(text):
            result = subprocess.run(
                ["bash", "-c", PRELUDE + block], cwd=f.path,
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=200 * PATIENCE, check=False)
            equal(result.returncode, 0, f"{page}: {block}\n{result.stderr}")

for line in (SOURCE / "docs/field.md").read_text().splitlines():
    row = [cell.strip() for cell in line.split("|")[1:-1]]
    if len(row) < 3 or row[-1] in ("shown by",) or set(row[0]) <= {"-"}:
        continue
    tests = row[-1].split(", ") if row[-1] else []
    check(tests or "not done" in line, f"docs/field.md: {row[0]}: no test")
    for test in tests:
        check((SOURCE / test).is_file(), f"docs/field.md: no {test}")

finish()
