# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Files of efficiencies: found by the GPU's name, laid over by the plan's own,
kept in the journal so that a run is judged again without them, and refused
with file and line where they are wrong."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "limits";
defaults = { mode = "fixed"; buffer_size = "16 MiB"; samples = 3; };
limits = ( { match = "*"; min = "50 % of expected"; } );
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; } );
"""
OWN = """
name = "our bench";
gpus = [ "NVIDIA H200" ];
sources = ( { name = "bench"; kind = "measured"; text = "our own two"; } );
rows = (
  { link = "pcie"; by = "ce"; way = "h2d"; load = "alone";
    efficiency = "80 %"; source = "bench"; }
);
"""
LINK = 32e9 * 16 * 128 / 130 / 8


def explained(folder, *more, profile="h200_x2"):
    code, out, err = folder.host("check-plan", "-c", "p.cfg", *more,
        "--explain-limits", "--driver", SIM, "--sim-profile", profile)
    equal(code, 0, f"check-plan {more} {profile} ({err})")
    return out


def cells_of(folder, run_dir):
    code, _, err = folder.host("report", run_dir, "-q", "--report",
                               f"json={run_dir}.json")
    equal(code, 0, f"report ({err})")
    document = json.loads((folder.path / f"{run_dir}.json").read_text())
    return document, [(c["limit"], c["state"]) for unit in document["units"]
                      for c in unit["cells"]]


with Folder() as f:
    f.write("p.cfg", PLAN)
    f.write("own.cfg", OWN)
    # Each machine by the file of its GPU, and of a GPU nobody knows by other.
    for profile, words in (
            ("h200_x2", "x 0.88 (ce h2d alone; h200.cfg:18, measured: 2 x"),
            ("dgx_a100_x8", "x 0.8 (ce h2d alone; a100.cfg:"),
            ("laptop_x4", "x 0.77 (ce h2d alone; other.cfg:")):
        contains(explained(f, profile=profile), words, profile)
    own = explained(f, "--set", "efficiency=own.cfg")
    contains(own, f"{0.5 * 0.8 * LINK / 1e9:.2f} GB/s", "own file")
    contains(own, "own.cfg:6, measured: our own two", "own source")

    # The journal keeps what was used.
    f.host("-c", "p.cfg", "--set", "efficiency=own.cfg", "-q", "--run-dir",
           "run", "--driver", SIM, "--sim-profile", "h200_x2")
    before, limits = cells_of(f, "run")
    files = before["efficiencies"]
    equal([(e["file"].split("/")[-1], e["from_plan"]) for e in files],
          [("own.cfg", True), ("h200.cfg", False), ("other.cfg", False)],
          "files that were used")
    sums = subprocess.run(["sha256sum", f.path / "own.cfg"],
                          capture_output=True, text=True).stdout
    equal(files[0]["sha256"], sums.split()[0], "digest")
    (f.path / "own.cfg").unlink()
    shutil.move(f.path / "run", f.path / "moved")
    equal(cells_of(f, "moved")[1], limits, "limits of a moved run")
    check(all(limit["value"] == limits[0][0]["value"] and state == "pass"
              for limit, state in limits), f"cells: {limits}")

    # What is wrong is told with its place, and nothing runs.
    f.write("own.cfg", OWN.replace('"80 %"', '"880 %"').replace("own two",
                                                               "\x00two"))
    code, _, err = f.host("check-plan", "-c", "p.cfg", "--set",
                          "efficiency=own.cfg")
    equal(code, 2, "a file with a NUL")
    contains(err, "--set:1: efficiency file \"own.cfg\" is not a text file",
             "a file with a NUL")
    f.write("own.cfg", OWN.replace('"80 %"', '"880 %"').replace('"ce"', '"xe"'))
    code, _, err = f.host("check-plan", "-c", "p.cfg", "--set",
                          "efficiency=own.cfg")
    equal(code, 2, "a bad file")
    contains(err, "efficiencies own.cfg:6: \"by\": \"xe\" is not known here, "
             "did you mean \"ce\"", "a bad row")
    contains(err, "efficiencies own.cfg:7: \"efficiency\": \"880 %\" is no "
             "share", "a bad share")

finish()
