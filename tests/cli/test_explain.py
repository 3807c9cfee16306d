# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""check-plan --explain-limits: every cell's limit, its formula and where it
was written, from flows that were only recorded."""
from harness import *

PLAN = """
name = "limits";
limits = ( { match = "*"; min = "90 % of expected"; },
           { match = "device_to_host_memcpy_ce"; min = "12.5 GB/s"; } );
suites = ( { plugin = "ce_h2d"; } );
"""

if not SIM.exists():
    skip("the simulated driver is not built")

with Folder() as f:
    f.write("p.cfg", PLAN)
    code, out, err = f.host("check-plan", "-c", "p.cfg", "--explain-limits",
                            "--driver", SIM, "--sim-profile", "h200_x2")
    equal(code, 0, f"exit code ({err})")
    # Gen5 x16, both directions of one GPU, at the efficiency of its class.
    link = 32e9 * 16 * 128 / 130 / 8
    lines = out.splitlines()
    heads = [line for line in lines if ": at least" in line]
    equal(len(heads), 28, "cells with a limit")
    quiet = [l for l in heads if l.startswith("host_to_device_memcpy_ce")]
    contains(quiet[0], f"{0.9 * 0.88 * link / 1e9:.2f} GB/s", "quiet limit")
    own = [l for l in heads if l.startswith("device_to_host_memcpy_ce")]
    for line in own:
        contains(line, "at least 12.50 GB/s, 12.5 GB/s", "absolute limit")
    total = [i for i, l in enumerate(lines)
             if l.startswith("all_to_host_bidirectional") and " total " in l]
    contains(lines[total[0] + 1], "4 x (PCIe", "base of a total")
    contains(lines[total[0] + 1], "both ways", "class of a total")
    contains(out, "from p.cfg:3", "place of a limit")
    equal([p.name for p in f.path.iterdir()], ["p.cfg"], "nothing is written")

# Without a GPU limits have no value, and stand as they were written.
with Folder() as f:
    f.write("p.cfg", PLAN.replace('suites = ( { plugin = "ce_h2d"; } )',
            'suites = ( { plugin = "ce_h2d"; limits = ( { match = "host_*"; '
            'max = "1 ms"; min = "2 GB/s"; devices = "0"; } ); } )')
            .replace('name = "limits";', ""))
    f.write("none.cfg", 'suites = ( { plugin = "ce_h2d"; }, '
            '{ plugin = "null"; } );')
    none = f.write("none_sim.cfg", "count = 0;")
    code, out, err = f.host("check-plan", "-c", "p.cfg", "--explain-limits",
                            "--driver", SIM, "--sim-profile", none)
    equal(code, 0, f"no GPU: exit code ({err})")
    contains(out, "no GPU is here: ", "no GPU")
    contains(out, "--sim-profile", "no GPU")
    for line in ('*: min = "90 % of expected";\n    from p.cfg:3\n',
                 'device_to_host_memcpy_ce: min = "12.5 GB/s";\n    from '
                 'p.cfg:4\n',
                 'host_*: min = "2 GB/s"; max = "1 ms"; devices = "0";\n    '
                 'from p.cfg:5\n'):
        contains(out, line, "a limit as written")
    _, out, _ = f.host("check-plan", "-c", "none.cfg", "--explain-limits",
                       "--driver", SIM, "--sim-profile", none)
    contains(out, "the plan has no limit", "no GPU and no limit")
    equal(f.host("check-plan", "-c", "p.cfg")[1],
          'plan "p.cfg" is sound: 1 suite\n', "a plan without a name")
    equal(f.host("check-plan", "-c", "none.cfg")[1],
          'plan "none.cfg" is sound: 2 suites\n', "two suites")

# Absolute limits against what the links carry, and GPUs that are not there.
DOUBTS = """
limits = ( { match = "host_to_device_memcpy_ce"; min = "500 GB/s"; },
           { match = "device_to_host_memcpy_ce"; min = "1 GB/s"; },
           { match = "*_bidirectional_*"; min = "20 GB/s"; } );
accept = ( { device = "9"; why = "known"; }, { pair = "0-2"; why = "known"; },
           { cause = "pcie widht"; device = "1"; why = "known"; },
           { cause = "pcie width 8"; device = "GPU-0"; why = "known"; } );
suites = ( { plugin = "ce_h2d"; } );
"""

with Folder() as f:
    f.write("p.cfg", DOUBTS)
    words = ("--driver", SIM, "--sim-profile", "h200_x2")
    wanted = [
        'p.cfg:6: "cause": no finding is called "pcie widht", did you mean '
        '"pcie_width"',
        'p.cfg:5: "device": there is no GPU 9 here, this machine has 2',
        'p.cfg:5: "pair": there is no GPU 2 here, this machine has 2',
        'p.cfg:2: limit "500 GB/s" is not plausible, it is 793 % of the link: '
        'PCIe Gen5 x16: 32 GT/s x 16 lanes x 128/130 / 8 = 63.0 GB/s; no link '
        'carries more than it can',
        'p.cfg:3: limit "1 GB/s" is not plausible, it is 1.59 % of the link: '
        'PCIe Gen5 x16: 32 GT/s x 16 lanes x 128/130 / 8 = 63.0 GB/s; a link '
        'at that speed needs triage']
    wanted = ["nvbw-host: warning: plan " + line for line in wanted]
    code, _, err = f.host("check-plan", "-c", "p.cfg", "--explain-limits",
                          *words)
    equal((code, err.splitlines()), (0, wanted), "doubts of a plan")
    _, _, err = f.host("-c", "p.cfg", "--set", "defaults.mode=fixed", "--set",
                       "defaults.buffer_size=4 MiB", *words)
    equal([l for l in err.splitlines() if "warning: plan" in l], wanted,
          "doubts of a plan that runs")
    equal(f.host("check-plan", "-c", "p.cfg", "--explain-limits", "-q",
                 *words)[2], "", "no doubts under -q")

# Each base: what it comes to, or what it waits for, and where it stands.
BASES = """
name = "bases";
defaults = { mode = "fixed"; buffer_size = "4 MiB"; samples = 3; };
limits = (
  { match = "host_to_device_memcpy_ce"; min = "80 % of link";
    warn = "50 GB/s"; },
  { match = "device_to_host_memcpy_ce"; min = "97 % of siblings"; },
  { match = "host_device_latency_sm"; max = "102 % of baseline"; }
);
suites = (
  { plugin = "ce_h2d"; tests = [ "*_memcpy_ce" ]; },
  { plugin = "latency"; tests = [ "host_device_latency_sm" ]; }
);
"""

with Folder() as f:
    sim = ("--driver", SIM, "--sim-profile", "h200_x2")
    only = ("-t", "host_to_device_memcpy_ce", "device_to_host_memcpy_ce",
            "host_device_latency_sm")
    f.write("b.cfg", BASES)
    f.host("-c", "b.cfg", *only, "-q", "--run-dir", "r", *sim)
    for more, latency in (
            ((), "at most 102 % of baseline, unknown: no baseline was given\n"),
            (("--baseline", "r"), "at most 1.222 us, 102 % of baseline\n"
             "    base 1.198 us = the baseline of 2")):
        code, out, err = f.host("check-plan", "-c", "b.cfg", *only,
                                "--explain-limits", *more, *sim)
        equal(code, 0, f"exit code ({err})")
        contains(out, "host_to_device_memcpy_ce bandwidth GPU 0: at least "
                 "50.41 GB/s, 80 % of link\n    base 63.02 GB/s = PCIe",
                 "of link")
        contains(out, "    warns below 50.00 GB/s, 50 GB/s\n    from b.cfg:5",
                 "warn")
        contains(out, "device_to_host_memcpy_ce bandwidth GPU 0: at least "
                 "97 % of siblings, once 3 cells of its class are measured\n"
                 "    from b.cfg:7", "of siblings")
        contains(out, "host_device_latency_sm latency GPU 0: " + latency,
                 "of baseline")

finish()
