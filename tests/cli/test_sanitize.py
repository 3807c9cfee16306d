# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""tests/gpu/sanitize.py, which runs compute-sanitizer on machines with GPUs: its
plan launches every kernel there is but the one of multicast, each for the plugin
that the script says, and what a checker finds is told, whether or not the
checker passes descriptors on."""
import re

from harness import *

sys.path.insert(0, str(SOURCE / "tests" / "gpu"))
import sanitize  # noqa: E402

if not SIM.exists():
    skip("the simulated driver is not built")
CHECKER = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
  --log-file) log=$(echo "$2" | sed "s/%p/$$/"); shift 2 ;;
  --*) shift 2 ;;
  *) break ;;
  esac
done
[ -z "$log" ] || printf '%s\\n' SAID >"$log"
CLOSE
exec "$@"
"""
# Its own process keeps them open.
CLOSING = '(exec 3<&- 4>&-; exec "$@"); exit'
LIST = re.compile(r"X\((\w+)(?:, \w+)?\)")
SIMULATED = ["--", "--driver", str(SIM), "--sim-profile", "h200_x2"]


def kernels_there_are():
    text = (SOURCE / "kernels" / "args.h").read_text().replace("\\\n", " ")
    return {name for line in text.splitlines()
            if re.match(r"#define (ENGINE|SM|CHASE)_KERNELS\(X\)", line)
            for name in LIST.findall(line.partition("(X)")[2])}


def run(f, name, said, close="", env=None, options=()):
    """(exit code, rows) of the script with a checker that says this."""
    checker = f.write(f"{name}.checker", CHECKER.replace("SAID", said)
                      .replace("CLOSE", close))
    checker.chmod(0o755)
    code, out, err = f.host(
        BUILD, f.path / name, 60 * PATIENCE, "--sanitizer", checker, "--tools",
        "memcheck", *SIMULATED, *options, env=env,
        program=SOURCE / "tests" / "gpu" / "sanitize.py")
    equal(err, "", f"{name}: what it complains about")
    return code, [json.loads(line) for line in out.splitlines()]


def check_kernels(f):
    """A worker for each plugin, so that it can be told whose a kernel is."""
    list_file = f.path / "kernels"
    code, rows = run(f, "each", "'===== ERROR SUMMARY: 0 errors'",
                     env={"NVBW_SIM_KERNELS": str(list_file)},
                     options=["--set", "isolate=plugin"])
    equal(code, 0, f"exit code ({rows})")
    plugins = {data["pid"]: pathlib.Path(data["text"]).stem
               for kind, data in journal(f.path / "each" / "memcheck.run")
               if kind == "event" and data["what"] == "worker_start"}
    launched = {name: set() for name in plugins.values()}
    for line in list_file.read_text().splitlines():
        process, kernel = line.split()
        if int(process) in plugins:
            launched[plugins[int(process)]].add(kernel.removeprefix("nvbw_"))
    for name, kernels in sanitize.KERNELS.items():
        wanted = set(f"{sanitize.ENGINE} {kernels}".split())
        equal(wanted ^ launched.get(name, set()), set(), f"kernels of {name}")
    there_are = kernels_there_are()
    check(len(there_are) > 25, f"kernels in args.h: {there_are}")
    equal(there_are - set().union(*launched.values()), {"copy_multicast", "read_paced"},
          "kernels that the plan does not launch")
    equal(rows[0]["missing"], [], "kernels missing")
    check(rows[0]["logs"] >= 5, f"logs: {rows[0]}")


with Folder() as f:
    check_kernels(f)
    code, rows = run(f, "found", "'===== Invalid __global__ read of size 4' "
                     "'===== ERROR SUMMARY: 3 errors'", close=CLOSING,
                     options=["--devices", "0"])
    equal(code, 1, "exit code where something was found")
    equal(rows[-1], {"clean": False, "passes_descriptors": False}, "summary")
    equal(rows[0]["errors"], 3, "errors")
    equal(rows[0]["lines"], ["Invalid __global__ read of size 4"], "lines")
    equal(rows[0]["missing"], [], "missing with one GPU")
    equal(rows[0]["cells_not_measured"], 0, f"cells ({rows[0]})")
    code, rows = run(f, "silent", "nothing", options=["--devices", "0"])
    equal((code, rows[0]["logs_unfinished"]), (1, 1), "a log without an end")

finish()
