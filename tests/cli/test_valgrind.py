# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The host's ways through its commands under valgrind, which sees memory that
was never written where the address sanitizer does not. Workers are left out:
they are other programs, and theirs is the memory that is measured."""
from harness import *

VALGRIND = shutil.which("valgrind")
PLAN = """
name = "valgrind";
defaults = { mode = "fixed"; buffer_size = "8 MiB"; copies = 2; samples = 2;
  warmup = 0; timeout = "60 s"; };
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },
           { plugin = "ce_d2d";
             tests = [ "device_to_device_memcpy_write_ce" ]; } );
limits = ( { match = "host_to_device_memcpy_ce"; min = "90 % of expected"; },
           { match = "device_to_device_memcpy_write_ce"; min = "600 GB/s"; } );
repeat = 2;
"""
MACHINE = ("--driver", SIM, "--sim-profile", "h200_x2")
RUN = ("-c", "p.cfg", *MACHINE)
REPORTS = [word for kind in ("json", "csv", "junit", "prometheus", "html")
           for word in ("--report", f"{kind}=report.{kind}")]
# Words and the exit code without valgrind.
COMMANDS = (
    (("check-plan", "-c", "p.cfg", "--explain-limits", *MACHINE), 0),
    (("check-plan", "-c", "bad.cfg"), 2),
    ((*RUN, "--dry-run"), 0),
    ((*RUN, "--run-dir", "r", *REPORTS), 1),
    ((*RUN, "--run-dir", "second", "-v"), 1),
    (("resume", "r", "--rerun-failed", *MACHINE), 1),
    (("report", "r"), 0),
    (("verify", "r"), 0),
    (("baseline", "r", "--out", "b.json"), None),
    (("compare", "r", "second"), None),
    (("merge", "r", "second"), 1),
    (("list", *MACHINE), 0),
    (("topo", *MACHINE), 0),
    (("help", "run"), None),
    (("check-plan", "-c", "p.cfg", "--explain-limits"), 0),
    (("check-plugin", BUILD / "lib/nvbw/plugins/skeleton.so"), 0),
    (("from-nvloom", SOURCE / "tests/fuzz/corpus/nvloom/good.csv"), 0),
    (("-t", "0", "-b", "8", "-i", "2", *MACHINE), 0),
)
FOUND = 99

if VALGRIND is None:
    skip("no valgrind")
if not SIM.exists():
    skip("this build has no simulated driver")
if SANITIZERS != [""]:
    skip("a sanitizer and valgrind do not go together")

with Folder() as f:
    f.write("p.cfg", PLAN)
    f.write("bad.cfg", PLAN + "nonsense = { a = 1; };\n")
    # What valgrind says of system calls that it does not know begins with --.
    for words, wanted in COMMANDS:
        code, _, err = f.host(
            "-q", f"--error-exitcode={FOUND}", "--leak-check=full",
            "--errors-for-leak-kinds=definite", HOST, *words, program=VALGRIND)
        said = "\n".join(line for line in err.splitlines()
                         if not line.startswith("--"))[-2000:]
        check(code != FOUND, f"{words}: {said}")
        check(wanted in (None, code), f"{words}: exit code {code} ({said})")

finish()
