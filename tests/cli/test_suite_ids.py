# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Two suites of one plugin: wherever a person reads of a testcase it says of
which of them it is, and no two names in JUnit are alike."""
import xml.etree.ElementTree as xml

from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "two";
defaults = { mode = "fixed"; samples = 1; };
limits = ( { match = "*"; max = "1 ns"; } );
suites = (
  { plugin = "latency"; id = "stride"; tests = [ "device_local_latency_sm" ]; },
  { plugin = "latency"; id = "random"; tests = [ "device_local_latency_sm" ];
    params = { chase = "random"; footprint = "1 MiB"; }; },
  { plugin = "ce_h2d"; id = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ];
    params = { buffer_size = "1 MiB"; }; },
  { plugin = "ce_h2d"; id = "device_to_host_memcpy_ce";
    tests = [ "device_to_host_memcpy_ce" ];
    params = { buffer_size = "1 MiB"; }; } );
"""
WORDS = ("--driver", SIM, "--sim-profile", "h200_x2", "-c", "p.cfg")
NAMES = [f"latency/device_local_latency_sm ({name})"
         for name in ("stride", "random")]


def tell(text, where):
    for name in NAMES:
        contains(text, name, where)
    check("(ce_h2d)" not in text, f"{where}: an id that is the plugin's name")
    check("(device_to_host_memcpy_ce)" not in text,
          f"{where}: an id that is the testcase's name")


with Folder() as f:
    f.write("p.cfg", PLAN)
    code, out, err = f.host(*WORDS, "--run-dir", "r", "-v", "--report",
                            "junit=j.xml", "--report", "html=h.html",
                            "--report", "text=t.txt")
    equal(code, 1, f"exit ({err[-300:]})")
    tell(err, "progress")
    text = (f.path / "t.txt").read_text()
    heads, failed = text.split("\nWhat did not pass\n")
    tell(heads, "headings")
    tell(" ".join(failed.split()), "what did not pass")
    page = (f.path / "h.html").read_text()
    for name in ("stride", "random"):
        contains(page, f"device_local_latency_sm ({name})</", "html")
    _, out, _ = f.host(*WORDS, "--dry-run")
    tell(out, "dry run")

    root = xml.parse(f.path / "j.xml").getroot()
    suites = [suite.get("name") for suite in root.iter("testsuite")]
    tell(" ".join(suites), "junit")
    equal(len(set(suites)), len(suites), "suites in junit")
    cases = [(case.get("classname"), case.get("name"))
             for case in root.iter("testcase")]
    equal(len(set(cases)), len(cases), "testcases in junit")
    check(any(c[0] == "latency.random.device_local_latency_sm" for c in cases),
          f"classes: {cases}")

finish()
