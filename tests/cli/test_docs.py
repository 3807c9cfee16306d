# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""README.md and docs/run-plan.md keep to the program: each block marked `sh`
is run on a simulated machine, tables of keys and parameters are what
`nvbw-host help` prints, links lead somewhere. NVBW_DOCS=write renews the
tables."""
import re
from harness import *

PAGES = ["README.md", "docs/reports.md", "docs/field.md",
         "docs/first-limit.md", "docs/troubleshooting.md", "docs/run-plan.md",
         "docs/from-nvbandwidth.md"]
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

with Folder() as f:
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
