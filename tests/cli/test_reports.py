# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Every report of one run and again of its journal: read by programs of others, the same figures everywhere, valid after an interrupted
run, and with names that try to break out of their format."""
import base64
import csv
import hashlib
import html.parser
import io
import re
import unicodedata
import xml.etree.ElementTree as tree

from harness import *

PLAN = """
name = "reports";
defaults = { mode = "fixed"; buffer_size = "1 MiB"; samples = 8; copies = 2;
  warmup = 1; confirm = 0; required = "yes"; };
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ];
    limits = ( { match = "*"; min = "1 GB/s"; },
               { match = "*"; devices = "1"; min = "900 GB/s"; } ); },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_read_ce" ];
    required = "no"; limits = ( { match = "*"; min = "5000 GB/s"; } ); },
  { plugin = "latency"; tests = [ "host_device_latency_sm" ]; } );
"""
FORMATS = ("csv", "junit", "prometheus", "html")
FOR_PEOPLE = ("text", "verdict", "nvbandwidth")
# What a name, label or message may try.
HOSTILE = ('<script>alert("1")</script> \' & ]]> \u00fc\u4e2d\U0001f600 '
           '=HYPERLINK("http://x") \\ \x01\x1b[31m\u202e\n"} 1\nnvbw_evil 1 ' +
           "x" * 4096)
RUNTIME = ("--driver", SIM, "--sim-profile", "h200_x2")


def is_odd(character):
    """Whether it could play with who reads it."""
    return character not in "\r\n\t" and (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or
        unicodedata.bidirectional(character) in
        ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def reports(folder, run_dir):
    """Each format of a kept run, as text."""
    words = [f"--report={name}={folder.path / name}" for name in FORMATS]
    code, out, err = folder.host("report", run_dir, *words,
                                 f"--report=json={folder.path / 'json'}")
    equal(code, 0, f"report {run_dir} ({out}{err})")
    texts = {}
    for name in FORMATS:
        data = (folder.path / name).read_bytes()
        texts[name] = data.decode("utf-8")
        check(not any(map(is_odd, texts[name])),
              f"{run_dir}: control characters in {name}")
    for name in FOR_PEOPLE:
        code, out, _ = folder.host("report", run_dir, f"--report={name}=-")
        check(code == 0 and out and not any(map(is_odd, out)),
              f"{run_dir}: control characters in {name}")
    return texts, json.loads((folder.path / "json").read_text())


def run_tool(words, text, what):
    if shutil.which(words[0]):
        result = subprocess.run(words, input=text, capture_output=True,
                                text=True, check=False)
        said = result.stdout.strip() or words[0] == "tidy" and result.stderr
        check(result.returncode == 0 and not said,
              f"{what}: {words[0]}: {result.stdout}{result.stderr}")


def check_csv(text, report, what):
    check(text.endswith("\r\n") and "\n" not in text.replace("\r\n", ""),
          f"{what}: lines of the CSV end with CRLF")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    equal(len(rows), len(cells_of(report)), f"{what}: rows and cells")
    for row, cell in zip(rows, cells_of(report)):
        check(None not in row and None not in row.values(),
              f"{what}: a row has other columns than the first line")
        equal(row["state"], cell["state"], f"{what}: state")
        equal(float(row["figure"]) if row["figure"] else None, cell["figure"],
              f"{what}: figure")
        for field in row.values():
            try:
                float(field)
            except ValueError:
                check(field.lstrip()[:1] not in ("=", "+", "-", "@"),
                      f"{what}: {field[:40]} is a formula")
    return rows


def check_junit(text, report, what):
    rules = SOURCE / "configs/schema/junit.rng"
    run_tool(["xmllint", "--noout", "--relaxng", str(rules), "-"], text, what)
    root = tree.fromstring(text.encode())
    cases = root.findall("testsuite/testcase")
    equal(len(cases), len(cells_of(report)) + 1, f"{what}: test cases")
    for suite in root:
        for key, element in (("tests", "."), ("failures", "failure"),
                             ("errors", "error"), ("skipped", "skipped")):
            found = suite.findall("testcase" if element == "." else
                                  f"testcase/{element}")
            equal(int(suite.get(key)), len(found), f"{what}: {key}")
    bad = root.findall(".//failure") + root.findall(".//error")
    equal(bool(bad), report["exit_code"] != 0, f"{what}: a failure or error")
    for case, cell in zip(cases[1:], cells_of(report)):
        ends = {"failure", "error"} & {e.tag for e in case}
        equal(bool(ends), cell["exit_code"] != 0,
              f"{what}: {cell['testcase']} {cell['state']}: {ends}")
    return root


def check_prometheus(text, report, what):
    run_tool(["promtool", "check", "metrics"], text, what)
    series = re.findall(r'^(nvbw_\w+)(\{.*\})? (\S+)$', text, re.M)
    lines = [x for x in text.splitlines() if not x.startswith("#")]
    equal(len(series), len(lines), f"{what}: lines that are series")
    equal(len({s[:2] for s in series}), len(series), f"{what}: double series")
    check(not any(name == "nvbw_evil" for name, _, _ in series),
          f"{what}: a label broke out")
    values = {name: float(v) for name, _, v in series}
    counts = [float(v) for name, _, v in series if name == "nvbw_metric_cells"]
    equal(sum(counts), len(cells_of(report)), f"{what}: cells of all metrics")
    if values["nvbw_run_cells_left_out"] > 0:
        check(len(lines) < 20000, f"{what}: {len(lines)} series")
        contains(text, "\n# Of ", f"{what}: what was left out is said")
        return series
    figures = sorted(float(v) for name, _, v in series
                     if name == "nvbw_cell_bytes_per_second")
    wanted = sorted(c["figure"] for c in cells_of(report)
                    if c["figure"] is not None and
                    c["unit"] == "bytes_per_second")
    equal(figures, wanted, f"{what}: figures")
    equal([float(v) for n, _, v in series if n == "nvbw_run_exit_code"],
          [report["exit_code"]], f"{what}: exit code")
    stats = {re.search(r'stat="(\w+)"', labels).group(1): float(v)
             for name, labels, v in series
             if name == "nvbw_metric_bytes_per_second" and
             'plugin="ce_h2d"' in labels}
    h2d = [c["figure"] for c in cells_of(report)
           if c["plugin"] == "ce_h2d" and c["figure"] is not None]
    if h2d:
        equal((stats["min"], stats["max"]), (min(h2d), max(h2d)),
              f"{what}: least and most")
    return series


VOID = {"meta"}
ENDED = {"td", "th", "tr"}  # whose end tags HTML lets one leave out


class Page(html.parser.HTMLParser):
    """Well-formed, and no more in it than a page without scripts has."""

    def __init__(self, what):
        super().__init__()
        self.what, self.open, self.ids, self.links = what, [], [], []
        self.tags, self.text = {}, []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attrs:
            check(not name.startswith("on") and name != "style",
                  f"{self.what}: <{tag} {name}>")
            if name in ("href", "src"):
                check(value.startswith("#"), f"{self.what}: {value}")
                self.links.append(value[1:])
            if name == "id":
                self.ids.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in ENDED:
            self.open.pop()
        if not check(self.open and self.open[-1] == tag,
                     f"{self.what}: </{tag}> in {self.open[-5:]}"):
            self.open.append(tag)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def check_html(text, report, what):
    run_tool(["tidy", "-q", "-e", "-utf8"], text, what)
    page = Page(what)
    page.feed(text)
    page.close()
    equal(page.open, [], f"{what}: elements left open")
    equal(len(set(page.ids)), len(page.ids), f"{what}: ids twice")
    equal(set(page.links) - set(page.ids), set(), f"{what}: dead links")
    check(not {"script", "img", "iframe", "object", "link", "form"} &
          set(page.tags), f"{what}: {page.tags}")
    sheet = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    contains(text, f"content=\"default-src 'none'; style-src 'sha256-{digest}'",
             f"{what}: policy")
    check(not re.search(r"url\(|@import|https?:", sheet), f"{what}: it fetches")
    seen = "".join(page.text)
    contains(seen, report["verdict"], f"{what}: verdict")
    for cell in cells_of(report):
        if cell["figure"] is not None and cell["unit"] == "bytes_per_second":
            contains(seen, f"{cell['figure'] / 1e9:.2f}", f"{what}: a figure")
    return page


def check_all(folder, run_dir, what):
    texts, report = reports(folder, run_dir)
    rows = check_csv(texts["csv"], report, what)
    root = check_junit(texts["junit"], report, what)
    check_prometheus(texts["prometheus"], report, what)
    check_html(texts["html"], report, what)
    return texts, report, rows, root


def poison(data):
    """Every text of a journal's line that is no name of the vocabulary."""
    names = {"name", "host", "message", "testcase", "sweep", "plugin",
             "row_labels", "col_labels", "driver_version", "serial", "vbios",
             "cpu", "os", "text", "summary", "command", "board", "plugin_file",
             "file"}
    if isinstance(data, dict):
        return {k: HOSTILE if k in names and isinstance(v, str) else
                [HOSTILE] * len(v) if k in names and isinstance(v, list) else
                poison(v) for k, v in data.items()}
    return [poison(x) for x in data] if isinstance(data, list) else data


def copy_journal(folder, name, change):
    lines = (folder.path / "run/journal.ndjson").read_text().splitlines()
    lines = change([json.loads(line) for line in lines])
    folder.write(f"{name}/journal.ndjson",
                 "".join(json.dumps(x) + "\n" for x in lines))
    return folder.path / name


def grow(lines):
    """The unit of ce_h2d with 1000 rows, of whose cells a half fail, and thirty
    more rounds of it with 100 rows."""
    unit = next(x for x in lines if x["type"] == "unit")
    cell = next(x for x in lines if x["type"] == "cell")
    head = lines[:lines.index(unit)]
    units, cells = [], []
    for number in range(31):
        rows = 1000 if number == 0 else 100
        shape = dict(unit["data"]["shapes"][0], rows=rows, row_labels=[
            str(i) for i in range(rows)])
        units.append({"type": "unit", "data": dict(
            unit["data"], id=number, round=number, shapes=[shape])})
        cells += [{"type": "cell", "data": dict(
            cell["data"], unit=number, row=row, col=col, flows=[],
            telemetry=[])} for row in range(rows) for col in range(2)]
    return head + units + cells


def check_large(f):
    """The bounds of the Prometheus report."""
    large = copy_journal(f, "large", grow)
    code, _, err = f.host(
        "report", large, "-q", f"--report=prometheus={f.path / 'prom'}",
        f"--report=json={f.path / 'json'}", f"--report=html={f.path / 'html'}")
    equal(code, 0, f"the large run ({err})")
    report = json.loads((f.path / "json").read_text())
    equal(len(cells_of(report)), 8000, "cells of the large run")
    series = check_prometheus((f.path / "prom").read_text(), report, "large")
    states = [labels for name, labels, _ in series
              if name == "nvbw_cell_state"]
    check(3800 < len(states) <= 4096, f"{len(states)} cells have series")
    # What failed first, of one metric 256; then whole rounds, the newest first.
    for number, wanted in (0, 256), (9, 100), (30, 200):
        mine = [x for x in states if f'round="{number}"' in x]
        equal(len(mine), wanted, f"series of round {number}")
        equal(sum('state="fail"' in x for x in mine), min(wanted, 100)
              if number else 256, f"of them failed, round {number}")


with Folder() as f:
    f.write("p.cfg", PLAN)
    words = [f"--report={name}={f.path / ('first.' + name)}"
             for name in FORMATS]
    code, _, err = f.host(*RUNTIME, "-c", "p.cfg", "--run-dir", f.path / "run",
                         *words)
    equal(code, 1, f"the run ({err})")
    texts, report, rows, root = check_all(f, f.path / "run", "run")
    for name in FORMATS:
        equal((f.path / f"first.{name}").read_bytes().decode(), texts[name],
              f"{name} of the run and again from its journal")
    page = (SOURCE / "docs/reports.md").read_text()
    table = page.split("<!-- csv columns -->")[1].split("\n## ")[0]
    told = re.findall(r"`(\w+)`", "".join(
        line.split("|")[1] for line in table.splitlines()[1:]
        if line.startswith("| `")))
    equal(list(rows[0]), told, "columns of the CSV and docs/reports.md")
    # Two GPUs by one node, one of them too slow for its limit.
    equal([(r["source"], r["destination"], r["direction"], r["initiator"],
            r["state"]) for r in rows[:2]],
          [("node 0", "GPU 0", "h2d", "ce", "pass"),
           ("node 0", "GPU 1", "h2d", "ce", "fail")], "rows of ce_h2d")
    message = root.findall(".//failure")[1].get("message")
    contains(message, "at least 900.00 GB/s", "message of the failure")
    contains(message, "p.cfg:8", "place of the limit")
    # What the plan does not require fails no CI.
    equal(len(root.findall(".//skipped")), 2, "not required, but too slow")

    half = copy_journal(f, "half", lambda lines: lines[:-4])
    _, report, _, _ = check_all(f, half, "interrupted")
    check(not report["run"]["complete"], "the cut run is not complete")

    evil = copy_journal(f, "evil", lambda lines: [
        {"type": x["type"], "data": poison(x["data"])
         if x["type"] in ("run", "facts", "unit", "cell", "event")
         else dict(x["data"], name=HOSTILE) if x["type"] == "plan"
         else x["data"]} for x in lines])
    texts, _, _, _ = check_all(f, evil, "hostile")
    contains(texts["junit"], "&lt;script&gt;", "what is hostile is told")
    check_large(f)

finish()
