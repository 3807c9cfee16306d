# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Mistakes on the command line: exit 2, one sentence, the nearest name."""
from harness import *

CASES = [
    (["--rport", "json=x"], 'did you mean "--report"'),
    (["lst"], 'did you mean "list"'),
    (["--report"], "needs a value"),
    (["--report", "jsn=x"], 'did you mean "json"'),
    (["--report", "json"], "FORMAT=FILE"),
    (["--report", "json=-", "--report", "text=-"], "only one report"),
    (["list", "--run-dir", "x"], "does not go with the command"),
    (["-c", "missing.cfg"], "missing.cfg"),
    (["verify"], "one run directory"),
    (["verify", "r", "s"], 'has no use for "s"'),
    (["check-plan", "p.cfg"], 'has no use for "p.cfg"; usage: nvbw-host '
     'check-plan -c PLAN'),
    (["run", "p.cfg"], 'has no use for "p.cfg"'),
    (["list", "ce_h2d"], 'has no use for "ce_h2d"'),
    (["topo", "0"], 'has no use for "0"'),
    (["compare", "a", "b", "c"], 'has no use for "c"'),
    (["help", "null", "ce_h2d"], 'has no use for "ce_h2d"'),
    (["verify", "nowhere"], "nowhere"),
    (["report", "nowhere"], "nowhere"),
    (["resume", "nowhere"], "nowhere"),
    (["help", "null_cel"], 'did you mean "null_cell"'),
    (["--sim-profile", "x"], "--driver"),
    (["--driver", "/nowhere.so"], "/nowhere.so"),
    (["--driver", SIM, "--sim-profile", "h200_2x"],
     'no machine "h200_2x", did you mean "h200_x2"; there are: '),
    (["topo", "--driver", SIM, "--sim-profile", "nothing"], " h200_x1 "),
    (["--driver", SIM, "--sim-profile", "h200_2x", "-t", "0"], "h200_x2"),
    (["--driver", SIM, "--sim-profile", "./mine.cfg"], "./mine.cfg"),
    (["--wrap", "nosuchcmd --args"], 'no program "nosuchcmd" in PATH'),
    (["--wrap", "/tmp"], '"/tmp" is no program'),
    (["--wrap", " "], "names no program"),
    (["--budget", "5"], '--budget: "budget": "5" has no unit'),
    (["--set", "name=a", "--budget", "5 s", "--set", "budgit=1"],
     'nvbw-host: --set:2: unknown key "budgit"'),
    (["--baseline", "none"], "nvbw-host: --baseline: baseline: "),
    (["--driver", SIM, "--sim-profile", "h200_x2", "--pair", "1", "9"],
     'nvbw-host: --pair: there is no GPU "9" here'),
    (["-c", "plans/accept.cfg"], 'did you mean "plans/acceptance.cfg"'),
    (["-c", "acceptance.cfg"], 'did you mean "plans/acceptance.cfg"'),
    (["help", "precison"], 'did you mean "precision"'),
    (["help", "requird"], 'did you mean "required"'),
    (["help", "check-plam"], 'did you mean "check-plan"'),
    (["-q=1"], "unknown option"),
    (["--quiet=1"], "takes no value"),
    (["-c", "plans/quick.cfg", "-b", "4"], "is one of nvbandwidth's"),
    (["list", "--useMean"], "is one of nvbandwidth's"),
    (["--force"], "it goes with: baseline compare"),
    (["-b", "0"], "at least 1"),
    (["-b", "0.0"], "at least 1"),
    (["-b", "0.5"], "whole number of MiB"),
    (["-b", "x"], '-b "x" is not a whole number of MiB'),
    (["-t", ""], "option --testcase got an empty list"),
    (["-b", "4", "-t", ","], "option --testcase got an empty list"),
    (["-b", "4", "--pair", ""], "option --pair got an empty list"),
    (["-i", "0"], "command line: -i 0: parameter"),
    (["--loopCount", "500"], "command line: --loopCount 500: parameter"),
    (["-t", "0", "-p", "host"], "exclude each other"),
    (["-p", "nothing"], "no testcase begins with"),
    (["--format", "xml"], "not one of text, json, perf"),
    (["-j", "--perfFormatter"], "exclude each other"),
    (["--pair", "1"], "names two GPUs"),
    (["--targetNumPairs", "0"], "--targetNumPairs"),
    (["--nvbandwidth-version", "0.9"], "not one of 0.8, 0.10"),
    (["-l", "--nvbandwidth-version", "9"], "not one of 0.8, 0.10"),
    (["-t", "a/b"], "neither the name nor the number"),
    (["--bufsize", "4"], 'did you mean "--bufferSize"'),
]

# Where a command ends with more than done and not done.
CODES = {"run": list("012345"), "resume": list("012345"),
         "merge": list("012345"), "compare": list("012"),
         "verify": list("012"), "check-plugin": list("025")}

with Folder() as f:
    for words, part in CASES:
        code, out, err = f.host(*words)
        equal(code, 2, f"exit code of {words} ({err})")
        contains(err, part, f"message of {words}")
        equal(out, "", f"stdout of {words}")
    equal(list(f.path.iterdir()), [], "nothing was written")

    code, out, err = f.host("--help")
    equal(code, 0, "--help")
    for line in ("0  passed", "3  health", "5  a plugin", "check-plan"):
        contains(out, line, "--help")
    for command in ("run", "list", "help", "topo", "check-plan",
                    "check-plugin", "resume", "report", "baseline", "compare",
                    "merge", "verify", "from-nvloom"):
        code, out, err = f.host(command, "--help")
        equal(code, 0, f"{command} --help")
        wide = [line for line in out.splitlines() if len(line) > 80]
        equal(wide, [], f"{command} --help fits 80 columns")
        codes = re.findall(r"^  (\d)  ", out[out.find("exit codes:"):], re.M)
        equal(codes, CODES.get(command, ["0", "2"]), f"codes of {command}")
    _, out, _ = f.host("--help")
    contains(out, "\n  merge  ", "--help")
    for flag in ("-h", "-b", "-l", "-t", "-p", "-v", "-s", "-d", "-m", "-i",
                 "-j"):
        contains(out, f"  {flag}, --", "--help")

    code, out, err = f.host("list")
    equal(code, 0, "list")
    contains(out, "null_cell", "list")

    wide = [line for line in out.splitlines() if len(line) > 80]
    equal(wide, [], "list fits 80 columns")

    code, out, err = f.host("list", "--json")
    equal(code, 0, "list --json")
    names = [t["name"] for p in json.loads(out)["plugins"]
             for t in p["testcases"]]
    check("null_cell" in names, "list --json names null_cell")
    for name in ["parameters", "plan", "reports", "latency", "ce_d2d",
                 "host_device_latency_sm", "null_cell",
                 "device_to_device_bidirectional_memcpy_read_ce"]:
        _, out, _ = f.host("help", name)
        wide = [line for line in out.splitlines() if len(line) > 80 and
                not line.startswith("file ")]
        equal(wide, [], f"help {name} fits 80 columns")
        if name.startswith("device_to_device_bidirectional"):
            contains(out, "\nparameters of its own: none\n", f"help {name}")

    for name, part in (("required", "defaults   required"),
                       ("precision", "default 0.5 %"),
                       ("footprint", "of testcases of plugin latency")):
        code, out, err = f.host("help", name)
        equal(code, 0, f"help {name} ({err})")
        contains(out, part, f"help {name}")
    _, _, err = f.host("-t", "foo", "--dry-run")
    contains(err, 'warning: command line: -t foo: there is no testcase "foo"',
             "a testcase that nobody offers")
    code, out, err = f.host("help", "parameters")
    contains(out, "buffer_size", "help parameters")
    code, out, err = f.host("check-plan", "-c", "plans/quick.cfg")
    equal(code, 0, f"check-plan ({err})")
    f.write("p.cfg", 'suites = ( { plugin = "null"; } );')
    code, out, err = f.host("-c", "p.cfg", "--dry-run")
    equal(code, 0, f"--dry-run ({err})")
    contains(out, "null_cell", "--dry-run")
    equal([p.name for p in f.path.iterdir()], ["p.cfg"], "--dry-run wrote")
    # Of an MPI job rank 0 alone tells all mistakes.
    f.write("bad.cfg", 'mpi = true; budgit = 1;\nsamples = 2;\n'
            'suites = ( { plugin = "null"; } );')
    for rank, wanted in (("0", 4), ("3", 1)):
        code, out, err = f.host("-c", "bad.cfg", env={"PMI_RANK": rank})
        equal((code, len(err.splitlines())), (2, wanted),
              f"mistakes of rank {rank} ({err})")
    equal(err, "nvbw-host: rank 3: the first of 3 mistakes is at bad.cfg:1, "
          "rank 0 tells all\n", "mistakes of rank 3")
    f.write("nvbw-runs", "")
    for words in (("-c", "p.cfg"), ("-c", "p.cfg", "--run-dir", "p.cfg/r")):
        code, out, err = f.host(*words)
        equal(code, 2, f"no folder for the run ({err})")
        contains(err, "; --run-dir DIR says where a run is kept", "no folder")

finish()
