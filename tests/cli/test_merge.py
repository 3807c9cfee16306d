# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""merge: one report of many nodes, made from a few simulated runs: outliers,
missing and unlike nodes, runs that are broken or not finished, and files that
somebody spoilt. The order of the directories does not matter."""
from harness import *

try:
    import jsonschema
except ImportError:
    jsonschema = None
if not SIM.exists():
    skip("the simulated driver is not built")

PLAN = """
name = "site";
defaults = { mode = "fixed"; buffer_size = "8 MiB"; samples = 3; confirm = 0; };
limits = ( { match = "*"; min = "80 % of expected"; } );
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
  "device_to_host_memcpy_ce" ]; } );
"""


def simulate(folder, name, profile, *more):
    code, _, err = folder.host("-c", "p.cfg", "-q", "--run-dir", name,
                               "--driver", SIM, "--sim-profile", profile,
                               *more)
    check(code in (0, 1), f"{name}: exit {code} ({err})")


def lines_of(path):
    return (path / "summary.ndjson").read_text().splitlines()


def clone(folder, source, host, **changes):
    """A directory with the run of another host."""
    lines = lines_of(folder.path / source)
    node = json.loads(lines[1])
    node["data"].update({"host": host, "run_id": host, **changes})
    path = folder.path / "fleet" / host
    path.mkdir(parents=True)
    (path / "summary.ndjson").write_text(
        "\n".join([lines[0], json.dumps(node), *lines[2:]]) + "\n")
    return f"fleet/{host}"


def merge(folder, *words):
    code, out, err = folder.host("merge", "--json", *words)
    document = json.loads(out) if out else None
    if document is not None and jsonschema is not None:
        jsonschema.validate(document, SCHEMA)
    return code, document, err


SCHEMA = json.loads(
    (BUILD / "share/nvbw/schema/fleet.schema.json").read_text())
with Folder() as f:
    f.write("p.cfg", PLAN)
    simulate(f, "whole", "h200_x2")
    f.write("half.cfg", 'base = "h200_x2"; name = "half"; gpus = ( { index = '
            '1; pcie = { width = 8; down = 28.5; up = 28.5; }; rate = { h2d = '
            '27.7; d2h = 27.7; }; } );')
    simulate(f, "half", "./half.cfg")
    equal(json.loads(lines_of(f.path / "whole")[1])["type"], "node",
          "the second line of a summary")

    # ---- a fleet with one sick node ----
    dirs = [clone(f, "whole", f"node{i}") for i in (1, 2, 3, 4, 10)]
    dirs.append(clone(f, "half", "node5"))
    code, fleet, err = merge(f, *dirs)
    equal(code, 1, f"the gravest of all ({err})")
    equal([n["host"] for n in fleet["nodes"]],
          ["node1", "node2", "node3", "node4", "node5", "node10"], "nodes")
    sick = fleet["nodes"][4]
    equal((sick["exit_code"], len(sick["outliers"]), len(sick["not_passed"])),
          (1, 2, 2), "the sick node")
    for outlier in sick["outliers"]:
        equal(fleet["cells"][outlier["cell"]]["place"], "GPU 1", "outlier")
        check(-0.52 < outlier["change"] < -0.48, f"outlier: {outlier}")
    equal([x["id"] for x in sick["findings"]], ["pcie_width"], "its finding")
    equal([n["outliers"] for n in fleet["nodes"] if n != sick], [[]] * 5,
          "the others")
    equal((fleet["counts"]["outliers"], fleet["counts"]["passed"]), (1, 5),
          "counts")
    equal(fleet["differences"], [], "all alike")

    code, text, _ = f.host("merge", *dirs)
    contains(text, "Fleet of 6 nodes, 24 cells, plan \"site\"\n  5 passed",
             "text")
    contains(text, "  node5: exit 1, fleet/node5\n    fail, ce_h2d/", "text")
    contains(text, "Outliers among their siblings\n  node5: 2 of 4 cells\n",
             "text")
    contains(text, "6 nodes, 1 outlier, 0 missing, 0 without a usable run, "
             "exit 1\n", "text")
    other = f.host("merge", *reversed(dirs), dirs[0], dirs[2] + "/")
    equal(other, (1, text, ""), "another order, and some twice")

    # ---- who is there ----
    code, fleet, _ = merge(f, *dirs[:5], "--expect-nodes", "node[1-6],node10")
    equal((code, fleet["missing"], fleet["unexpected"]),
          (4, ["node5", "node6"], []), "missing nodes")
    f.write("hosts", "node[1-4]\n# the last\nother\n")
    code, fleet, _ = merge(f, *dirs[:5], "--expect-nodes", "@hosts")
    equal((code, fleet["missing"], fleet["unexpected"]),
          (4, ["other"], ["node10"]), "hosts of a file")
    equal(merge(f, *dirs[:5], "--expect-nodes", "node[1-4],node10")[0], 0,
          "all are there")

    # ---- what is not alike ----
    unlike = clone(f, "whole", "node6", driver_version="570.1",
                   plan_sha256="0" * 64)
    code, fleet, _ = merge(f, *dirs[:5], unlike)
    equal({d["what"]: [(v["value"][:6], v["nodes"], v["first"])
                       for v in d["values"]] for d in fleet["differences"]},
          {"driver": [("580.15", 5, "node1"), ("570.1", 1, "node6")],
           "plan": [("site, ", 5, "node1"), ("site, ", 1, "node6")]},
          "differences")
    later = f.path / "fleet/again"
    shutil.copytree(f.path / dirs[0], later)
    lines = lines_of(later)
    node = json.loads(lines[1])
    node["data"].update(run_id="x", started="2099-01-01T00:00:00Z")
    (later / "summary.ndjson").write_text(
        "\n".join([lines[0], json.dumps(node)]) + "\n")
    code, fleet, _ = merge(f, *dirs[:5], "fleet/again")
    equal([(n["run_dir"], n["superseded"]) for n in fleet["nodes"]][:2],
          [("fleet/again", False), ("fleet/node1", True)], "two runs of a host")
    equal(fleet["counts"]["nodes"], 5, "two runs of a host")

    # ---- broken, unfinished and hostile ones: named, and never fatal ----
    bad = f.path / "bad"
    bad.mkdir()
    head, line = lines_of(f.path / "whole")[:2]
    node = json.loads(line)

    def spoil(**changes):
        data = {**node["data"], **changes}
        return head + "\n" + json.dumps({"type": "node", "data": data}) + "\n"

    group = node["data"]["groups"][0]
    texts = {
        "empty": b"", "torn": (head + "\n" + line)[:-20],
        "binary": bytes(range(256)) * 50, "no_line": head + "\n",
        "no_header": line + "\n" + line + "\n",
        "version": head.replace('"version":1', '"version":9') + "\n" + line,
        "old_build": head + "\n" + lines_of(f.path / "whole")[3] + "\n",
        "new_node": spoil(version=2), "no_host": spoil(host=None),
        "number": head + "\n" + line.replace('"gpus":2', '"gpus":1e999') + "\n",
        "negative": spoil(gpus=-1), "wide": spoil(exit_code=2**40),
        "lengths": spoil(groups=[{**group, "figures": [1.0]}]),
        "types": spoil(groups="all"), "nulls": spoil(groups=[None]),
        "no_names": spoil(groups=[{**group, "testcase": None}]),
        "deep": head + "\n" + "[" * 100000 + "\n",
    }
    for name, text in texts.items():
        f.write(f"bad/{name}/summary.ndjson", text)
    (bad / "folder").mkdir()
    (bad / "pipe").mkdir()
    os.mkfifo(bad / "pipe/summary.ndjson")
    (bad / "unfinished").mkdir()
    shutil.copy(f.path / "whole/journal.ndjson", bad / "unfinished")
    names = sorted(path.name for path in bad.iterdir()) + ["nowhere"]
    code, fleet, err = merge(f, *dirs[:5], *(f"bad/{n}" for n in names))
    equal((code, err), (4, ""), "broken directories")
    why = {t["run_dir"][4:]: t["why"] for t in fleet["unusable"]}
    equal(sorted(why), sorted(names), "broken directories")
    equal(fleet["counts"]["nodes"], 5, "the others are there")
    contains(why["unfinished"], "`nvbw-host resume` finishes it", "unfinished")
    contains(why["old_build"], "--full reads its journal", "an older build")
    contains(why["version"], "written in version 9 of", "another version")
    contains(why["lengths"], "2 places, 2 states and 1 figures", "lengths")
    contains(why["pipe"], "not a regular file", "a pipe")

    # Odd, and not broken: cleaned, and no figure is made of it.
    odd = f.path / "odd"
    odd.mkdir()
    (odd / "summary.ndjson").write_text(spoil(
        host="evil\x1b[2J\nhost", exit_code=77, groups=[
            {**group, "figures": [1e308, -5.0], "states": ["pass", "new"]}]))
    code, fleet, _ = merge(f, *dirs[:5], "odd")
    evil = fleet["nodes"][0]
    equal((evil["host"], evil["exit_code"], evil["counts"]["error"]),
          ("evil?[2J host", 4, 1), "odd values")
    code, text, _ = f.host("merge", *dirs[:5], "odd")
    check("\x1b" not in text, "no escapes in the text")
    evil = ('</td><script>alert("1")</script>\' & \x1b[2J\u202e\u00fc' +
            "x" * 4096)
    path = f.path / "odd/\x1b[31m<b>"
    path.mkdir()
    (path / "summary.ndjson").write_text(spoil(
        host=evil, plan=evil, build=evil, driver_version=evil, exit_code=1,
        gpu_model=evil, run_id="evil", started=evil,
        groups=[{**group, "testcase": evil, "metric": evil, "sweep": evil,
                 "places": [evil] * len(group["places"]),
                 "states": ["fail"] * len(group["places"])}],
        findings=[{"id": evil, "family": evil, "gpu": 0, "what": evil,
                   "action": evil, "exit_code": 1, "accepted": 0}]))
    words = (*dirs[:5], "half", path, "bad/torn", "--expect-nodes",
             "node[1-3],gone")
    code, text, err = f.host("merge", *words, "--report", "html=fleet.html",
                             "--report", "json=fleet.json", "-q")
    equal((code, err), (4, ""), "a hostile node")
    equal(text, "7 nodes, 1 outlier, 1 missing, 1 without a usable run, "
          "exit 4\n", "-q")
    code, text, _ = f.host("merge", *words)
    page = (f.path / "fleet.html").read_text()
    for what, seen in (("text", text), ("html", page)):
        contains(seen, "alert(", f"the hostile name in {what}")
        check(not any(c < " " and c != "\n" or c in "\x7f\u202e"
                      for c in seen), f"control characters in {what}")
    for part in ("<script", "<b>"):
        check(part not in page, f"{part} in the page")
    for part in ('id="outliers"', "Missing nodes: 1", "gone", "bad/torn",
                 "GPU 1 runs in too narrow a PCIe link",
                 "Passed, without a finding: 5"):
        contains(page, part, "the page of the fleet")
    if shutil.which("tidy"):
        said = subprocess.run(["tidy", "-q", "-e", "-utf8", "fleet.html"],
                              cwd=f.path, capture_output=True, text=True,
                              check=False).stderr
        equal(said, "", "tidy")
    equal(f.host("merge", *dirs, "--report", "csv=x")[0], 2, "no such format")
    code, text, _ = f.host("merge", *dirs, "--report", "html=-")
    check(text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n"),
          "a page on stdout")

    # ---- whole journals ----
    code, fleet, _ = merge(f, "--full", "whole", "bad/unfinished", "half")
    equal((code, fleet["counts"]["nodes"], fleet["counts"]["unusable"]),
          (1 if fleet["nodes"][0]["exit_code"] else 0, 1, 0), "--full")
    (f.path / "whole/summary.ndjson").unlink()
    code, fleet, _ = merge(f, "--full", "whole")
    equal((code, fleet["nodes"][0]["counts"]["pass"]), (0, 4), "--full")

    # ---- usage ----
    equal(f.host("merge")[0], 2, "no directory")
    code, out, err = f.host("merge", "--expect-nodes", "a[1-", "whole")
    equal((code, out), (2, ""), "hosts that are none")
    contains(err, "--expect-nodes: \"a[1-\": a bracket is not closed", "why")
    code, out, _ = f.host("merge", *dirs, "--json", "-o", "fleet.json")
    equal((code, out, json.loads((f.path / "fleet.json").read_text())[
        "exit_code"]), (1, "", 1), "-o")

finish()
