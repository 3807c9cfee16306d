# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The HTML report in a real browser: nothing on its console, every part in its
document, and names that would be markup are text. Skipped without Chromium."""
import re

from harness import *

BROWSER = next(filter(None, map(shutil.which, (
    "chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome"))), None)
EVIL = '"><script>document.title="evil"</script><img src=x onerror=alert(1)>'
PLAN = """
name = "%s";
defaults = { mode = "fixed"; buffer_size = "1 MiB"; samples = 8; copies = 2;
  warmup = 1; confirm = 0; };
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ];
    params = { buffer_size = [ "256 KiB", "1 MiB", "4 MiB" ]; };
    limits = ( { match = "*"; devices = "5"; min = "900 GB/s"; } ); },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_read_ce" ]; } );
"""


def browse(folder, page, *words):
    """(document, console) of a page."""
    result = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--enable-logging=stderr",
         f"--user-data-dir={folder.path / 'profile'}", *words,
         f"file://{folder.path / page}"], cwd=folder.path,
        capture_output=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL, timeout=100, check=False)
    if result.returncode != 0:
        skip(f"{BROWSER} does not start here: {result.stderr[-200:]}")
    return result.stdout, [line for line in result.stderr.splitlines()
                           if "CONSOLE" in line]


if BROWSER is None:
    skip("no Chromium is installed")

with Folder() as f:
    f.write("p.cfg", PLAN % EVIL.replace('"', '\\"'))
    code, out, err = f.host(
        "--driver", SIM, "--sim-profile", "hgx_h200_x8_link_x8", "-c", "p.cfg",
        "--run-dir", "run", "--report", "html=run.html")
    equal(code, 1, f"the run ({out}{err})")
    # That a console is seen at all, and that such a policy is kept to.
    f.write("bad.html", "<meta http-equiv=Content-Security-Policy "
            "content=\"default-src 'none'\"><style>p{}</style>")
    _, console = browse(f, "bad.html", "--dump-dom")
    check(console, "the console of a bad page is seen")

    dom, console = browse(f, "run.html", "--dump-dom")
    equal(console, [], "console")
    check(re.search(r"<title>FAILED: &quot;|<title>FAILED: \"", dom),
          "title of the page")
    for element in ("<script", "<img"):
        check(element not in dom, f"{element} in the document")
    for part in ("findings", "overview", "results", "environment"):
        contains(dom, f'id="{part}"', "parts")
    # A bar per GPU and point, a line per GPU.
    equal(len(re.findall(r'<td class="c\d', dom)), 56,
          "cells of the heat map")
    equal(dom.count('<rect class="b-'), 8 * 3, "bars")
    equal(len(re.findall(r'<path class="line l\d" d="M[\d. ]+L', dom)), 8,
          "curves")
    equal(dom.count("<tr") - dom.count("</tr"), 0, "rows")

    # The page of a fleet, of this run and others like it.
    lines = (f.path / "run/summary.ndjson").read_text().splitlines()[:2]
    for number in range(5):
        node = json.loads(lines[1])
        node["data"].update(host=f"n{number} {EVIL}", run_id=str(number))
        if number > 0:
            for group in node["data"]["groups"]:
                group["figures"] = [54e9 for _ in group["figures"]]
        f.write(f"fleet/{number}/summary.ndjson",
                f"{lines[0]}\n{json.dumps(node)}\n")
    f.host("merge", *sorted((f.path / "fleet").iterdir()), "-q",
           "--report", "html=fleet.html")
    fleet, console = browse(f, "fleet.html", "--dump-dom")
    equal(console, [], "console of the fleet's page")
    check("<script" not in fleet and "<img" not in fleet, "markup of a name")
    for part in ("outliers", "absent", "nodes", "unlike", "figures"):
        contains(fleet, f'id="{part}"', "parts of the fleet's page")
    contains(fleet, 'scope="rowgroup"', "an outlier")

    browse(f, "run.html", "--screenshot=run.png", "--window-size=1200,2000")
    check((f.path / "run.png").stat().st_size > 50000, "the page is drawn")
    browse(f, "run.html", "--print-to-pdf=run.pdf")
    check((f.path / "run.pdf").read_bytes()[:5] == b"%PDF-", "it prints")

finish()
