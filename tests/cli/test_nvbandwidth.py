# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""nvbandwidth's flags on simulated machines: golden output, headings to the
byte, what programs that read it look for, and exit codes. Golden files stand in
tests/cli/nvbandwidth with figures and names of the machine masked;
NVBW_GOLDEN=write renews them."""
import re

from harness import *

GOLDEN = pathlib.Path(__file__).resolve().parent / "nvbandwidth"
FOUR = ["host_to_device_memcpy", "device_to_host_memcpy",
        "host_to_device_bidirectional_memcpy",
        "device_to_host_bidirectional_memcpy"]
PEERS = ["device_to_device_memcpy_read", "device_to_device_memcpy_write",
         "device_to_device_bidirectional_memcpy_read",
         "device_to_device_bidirectional_memcpy_write"]
ALL = ["all_to_host_memcpy", "all_to_host_bidirectional_memcpy",
       "host_to_all_memcpy", "host_to_all_bidirectional_memcpy"]
TEAMS = ["all_to_one_write", "all_to_one_read", "one_to_all_write",
         "one_to_all_read"]
LATENCY = ["host_device_latency_sm", "device_to_device_latency_sm"]
NAMES = [f"{name}_{way}" for way in ("ce", "sm")
         for name in FOUR + PEERS + ALL + TEAMS] + LATENCY + \
        [f"{name}_tma" for name in PEERS] + \
        ["device_local_copy", "device_local_copy_sm", "device_local_read_sm",
         "device_local_write_sm", "device_to_device_latency_tma",
         "device_local_copy_tma"]
NAMES_0_8 = NAMES[:34] + ["device_local_copy"]

# What stands under "Running NAME.": the headings of nvbandwidth.
GB = "bandwidth (GB/s)"
POINTERS = dict(zip(FOUR + ALL, ["->", "<-", "<->", "<->",
                                 "<-", "<->", "->", "<->"]))
PEER_POINTERS = dict(zip(PEERS[:2] + TEAMS, ["->", "<-",
                                             "<-", "->", "->", "<-"]))


def headings(name):
    stem, _, way = name.rpartition("_")
    word = way.upper()
    if stem in POINTERS:
        return [f"memcpy {word} CPU(row) {POINTERS[stem]} GPU(column) {GB}"]
    if stem in PEER_POINTERS:
        return [f"memcpy {word} GPU(row) {PEER_POINTERS[stem]} "
                f"GPU(column) {GB}"]
    if "bidirectional" in stem:
        side = "Read" if "read" in stem else "Write"
        return [f"memcpy {word} GPU(row) <-> GPU(column) {part} {GB}"
                for part in (f"{side}1", f"{side}2", "Total")]
    return {
        "device_local_copy": [f"memcpy local GPU(column) {GB}"],
        "device_local_copy_sm": [f"memcpy local SM GPU(column) {GB}"],
        "device_local_copy_tma": [f"memcpy local TMA GPU(column) {GB}"],
        "device_local_read_sm": [f"memcpy local read SM GPU(column) {GB}"],
        "device_local_write_sm": [f"memcpy local write SM GPU(column) {GB}"],
        "host_device_latency_sm":
            ["memory latency SM CPU(row) <-> GPU(column) (ns)"],
        "device_to_device_latency_sm":
            ["Device to Device Latency SM GPU(row) <-> GPU(column) (ns)"],
        "device_to_device_latency_tma":
            ["Device to Device Latency TMA GPU(row) <-> GPU(column) (ns)"],
    }[name]


def masked(text):
    """Without what differs from machine to machine and build to build."""
    text = re.sub(r"nvbw-host \d[^\n\"]*", "nvbw-host VERSION", text)
    text = re.sub(r"(Driver Version: [^\n]*\n\n)[^\n]*\n", r"\1HOST\n", text)
    text = re.sub(r": \([^)]*\)\"", ': (HOST)"', text)
    text = re.sub(r"^([A-Z&][\w& ]* \w+) \d+\.\d\d", r"\1 9.99", text,
                  flags=re.M)
    text = re.sub(r"(\tSample .*: )\d+\.\d\d", r"\g<1>9.99", text)
    text = re.sub(r"  +\d+\.\d\d(?=[ \n])",
                  lambda m: "9.99".rjust(len(m.group())), text)
    text = re.sub(r'^( +)"\d[\d.]*"(,?)$', r'\1"9.99"\2', text, flags=re.M)
    return re.sub(r'("(?:sum|min|max|average)": )[\d.]+', r"\g<1>9.99", text)


def golden(name, text):
    path = GOLDEN / name
    if os.environ.get("NVBW_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(masked(text))
    wanted = path.read_text() if path.exists() else ""
    if masked(text) != wanted:
        fault(f"{name} is not the golden file:\n{masked(text)}")


class Machine:
    def __init__(self, folder, profile):
        self.folder, self.profile = folder, profile

    def __call__(self, *words, env=None):
        return self.folder.host("--driver", SIM, "--sim-profile",
                                self.profile, *words, env=env)


# ---- What programs that read the text look for ----------------------------

def read_text(text):
    """As the log readers of the field do: by line, with their patterns."""
    found, name, matrix = {}, None, None
    for line in text.splitlines():
        running = re.match(r"^Running\s+(.+)$", line)
        if running:
            name, matrix = running.group(1).rstrip("."), None
            found[name] = {"headings": [], "matrices": [], "sums": {}}
        elif line.startswith(("memcpy", "memory latency", "Device to Device")):
            found[name]["headings"].append(line)
            sides = re.findall(r"(\w{3})\((?:row|column)\)", line)
            check(sides and set(sides) <= {"CPU", "GPU"}, f"sides of {line}")
            matrix = []
            found[name]["matrices"].append(matrix)
        elif re.match(r"^\s+\d", line) or re.match(r"^\d+ ", line):
            check(matrix is not None, f"a row without a matrix: {line!r}")
            matrix.append(line.split())
        elif re.match(r"SUM (\S+) (\d+\.\d+)$", line):
            key, value = line.split()[1:]
            found[name]["sums"][key] = float(value)
    return found


def waived(text):
    return re.findall(r"^Waived: (\w+): (.*)$", text, re.M)


# ---- And those that read the JSON ------------------------------------------

def read_json(text, where):
    """The consumer that drops all before the first line that is only `{`."""
    lines = text.splitlines()
    equal((lines[0], lines[-1]), ("{", "}"), f"{where}: first and last line")
    equal(lines.count("{"), 1, f"{where}: lines that are only {{")
    equal(lines.count("}"), 1, f"{where}: lines that are only }}")
    root = json.loads("\n".join(lines[lines.index("{"):]))["nvbandwidth"]
    equal(root.pop("simulated", False), where != "without a GPU",
          f"{where}: simulated")
    equal(sorted(root), ["CUDA Runtime Version", "Driver Version",
                         "GPU Device list", "git_version", "testcases",
                         "version"], f"{where}: keys")
    check(isinstance(root["CUDA Runtime Version"], int), f"{where}: version")
    for case in root["testcases"]:
        check(case["status"] in ("Passed", "Waived", "Not Found", "Error"),
              f"{where}: status {case['status']}")
        for row in case.get("bandwidth_matrix", []):
            for cell in row:
                check(cell == "N/A" or float(cell) > 0, f"{where}: {cell!r}")
    return root


def check_case(name, case, gpus):
    """Layout and sums of one testcase that ran."""
    equal(case["headings"], headings(name), f"headings of {name}")
    rows = gpus if "GPU(row)" in case["headings"][0] and \
        not name.startswith(("all_to_one", "one_to_all")) else 1
    for matrix, (key, total) in zip(case["matrices"], case["sums"].items()):
        equal(matrix[0], [str(i) for i in range(gpus)], f"columns of {name}")
        equal([row[0] for row in matrix[1:]], [str(i) for i in range(rows)],
              f"rows of {name}")
        cells = [c for row in matrix[1:] for c in row[1:]]
        equal(len(cells), rows * gpus, f"cells of {name}")
        added = sum(float(c) for c in cells if c != "N/A")
        check(abs(added - total) < 0.01 * len(cells), f"SUM {key} {total}")
        check(rows == 1 or all(matrix[i + 1][i + 1] == "N/A"
                               for i in range(rows)), f"diagonal of {name}")
    ends = ["_read1", "_read2", "_total"] if "memcpy_read" in name else \
        ["_write1", "_write2", "_total"]
    keys = [name + e for e in ends] if "bidirectional_memcpy_" in name and \
        name.startswith("device_to_device") else [name]
    equal(list(case["sums"]), keys, f"keys of SUM of {name}")


with Folder() as f:
    two = Machine(f, "h200_x2")
    one = Machine(f, "h200_x1")

    # Golden files.
    some = ["host_to_device_memcpy_ce", "2", "device_to_device_memcpy_read_ce",
            "device_to_device_bidirectional_memcpy_write_ce", "8",
            "one_to_all_read_ce", "host_to_device_memcpy_sm",
            "device_local_copy"]
    for version in ("0.8", "0.10"):
        code, out, err = two("-b", "4", "--nvbandwidth-version", version,
                             "-t", *some)
        equal(code, 0, f"exit code of {version}\n{err}")
        golden(f"h200_x2_{version}.txt", out)
        contains(err, f"number 2 of nvbandwidth {version} is "
                 "host_to_device_bidirectional_memcpy_ce", "-t 2")
    code, out, err = two("-vmb", "4", "-i", "2", "-t", *some[:4])
    golden("h200_x2_verbose.txt", out)
    code, out, err = two("-b", "4", "--format", "perf", "-t", *some[:4])
    golden("h200_x2_perf.txt", out)
    code, same, err = two("-b", "4", "--perfFormatter", "-t", *some[:4])
    equal(masked(same), masked(out), "--perfFormatter and --format perf")
    code, out, err = two("-jvb", "4", "-t", *some[:4])
    golden("h200_x2.json", out)
    code, same, err = two("-vb", "4", "--format", "json", "-t", *some[:4])
    equal(masked(same), masked(out), "-j and --format json")
    code, out, err = one("-b", "4", "-t", "0", "4", "all_to_host_memcpy_ce",
                         "no_such_test")
    equal(code, 4, f"exit code with a testcase that nobody knows\n{err}")
    golden("h200_x1.txt", out)
    equal(re.findall(r"ERROR: Testcase (\S+) not found!", out),
          ["no_such_test"], "the line of an unknown testcase")

    # The whole list, in order, each testcase once.
    for version, names in (("0.8", NAMES_0_8), ("0.10", NAMES)):
        code, out, err = two("--nvbandwidth-version", version, "-b", "1")
        equal(code, 0, f"exit code of all of {version}\n{err}")
        ran = read_text(out)
        order = re.findall(r"^(?:Running (\w+)\.|Waived: (\w+):)", out, re.M)
        equal([a or b for a, b in order], names, f"order of {version}")
        for name, case in ran.items():
            check_case(name, case, 2)
        equal(waived(out), [], f"waived of {version}")

    # Figures are those of the JSON report of the same run, three ways.
    code, report, err = f.report(
        "--driver", SIM, "--sim-profile", "h200_x2", "-b", "4", "-t", "0",
        "4", "6", "--report", f"nvbandwidth-json={f.path / 'n.json'}",
        "--run-dir", "kept")
    nvb = read_json((f.path / "n.json").read_text(), "file")
    figures = {(u["testcase"], c["metric"], c["row"], c["col"]):
               c["figure"] / 1e9 for u in report["units"] for c in u["cells"]}
    ways = {"host_to_device_memcpy_ce": ["bandwidth"],
            "device_to_device_memcpy_read_ce": ["bandwidth"],
            "device_to_device_bidirectional_memcpy_read_ce":
                ["reverse", "forward", "total"]}
    for case in nvb["testcases"]:
        metrics = ways[case["name"]]
        step = len(case["bandwidth_matrix"]) // len(metrics)
        for r, row in enumerate(case["bandwidth_matrix"]):
            for c, cell in enumerate(row):
                key = (case["name"], metrics[r // step], r % step, c)
                equal(cell, f"{figures[key]:.6g}" if key in figures else "N/A",
                      f"figure of {key}")
    code, out, err = f.host("report", "kept", "--report", "nvbandwidth=-")
    check_case("host_to_device_memcpy_ce",
               read_text(out)["host_to_device_memcpy_ce"], 2)
    plan = dict(journal(f.path / "kept"))["plan"]
    origins = {p["name"]: (p["texts"], p["origin"]["file"])
               for p in plan["params"]}
    equal(origins["buffer_size"], (["4 MiB"], "command line: -b 4"),
          "origin of buffer_size")
    equal(origins["samples"][0], ["3"], "samples")
    equal(origins["mode"][0], ["fixed"], "mode")

    # -l: nothing on stderr, and lines by number.
    for version, names in (("0.8", NAMES_0_8), ("0.10", NAMES)):
        code, out, err = f.host("-l", "--nvbandwidth-version", version)
        equal((code, err), (0, ""), f"-l of {version}")
        listed = re.findall(r"(\d+),\s+([\w_]+):", out)
        equal(listed, [(str(i), n) for i, n in enumerate(names)],
              f"list of {version}")

    # Numbers, prefixes, pairs and switches.
    _, out, _ = two("-b", "1", "-t", "34", "--nvbandwidth-version", "0.8")
    contains(out, "Running device_local_copy.", "-t 34 of 0.8")
    _, out, err = two("-b", "1", "-t", "38", "32")
    contains(out, "Running device_local_copy.", "-t 38 of 0.10")
    contains(err, "-b 1: does not affect testcases of latency, which always "
             "go over 2 MiB: host_device_latency_sm\n", "-b")
    _, out, _ = two("-b", "1", "-p", "all_to", "one_to")
    equal([n for n in read_text(out) if n.endswith("_ce")],
          [n for n in NAMES if n.startswith(("all_to", "one_to"))
           and n.endswith("_ce")], "-p")
    _, out, _ = two("-b", "1", "-t", "0", "0")
    equal(out.count("Running host_to_device_memcpy_ce."), 2, "-t 0 0")
    eight = Machine(f, "hgx_h200_x8")
    _, out, _ = eight("-b", "1", "-t", "4", "--pair", "2", "5")
    rows = read_text(out)["device_to_device_memcpy_read_ce"]["matrices"][0]
    equal((rows[0], rows[1][0], rows[1][1]), (["2", "5"], "2", "N/A"), "--pair")
    _, out, _ = eight("-b", "1", "-t", "4", "--targetNumPairs", "5",
                      "--run-dir", "pairs")
    rows = read_text(out)["device_to_device_memcpy_read_ce"]["matrices"][0]
    equal(sum(c != "N/A" for row in rows[1:] for c in row[1:]), 5,
          "--targetNumPairs")
    code, again, _ = f.host("resume", "pairs", "--driver", SIM,
                            "--sim-profile", "hgx_h200_x8")
    equal(masked(again), masked(out), "resume leaves out the same pairs")
    code, report, err = f.report(
        "--driver", SIM, "--sim-profile", "h200_x2", "-sdmb", "2", "-i", "5",
        "--loopCount", "7", "-t", "0", "--useHugePages")
    cell = cells_of(report)[0]
    equal((cell["verified"], len(cell["samples"]), cell["copies"],
           cell["copy_bytes"], cell["warmup"]), ("off", 5, 7, 2 << 20, 4),
          "-s -i --loopCount -b")
    contains(err, "--useHugePages: changes nothing", "--useHugePages")
    code, report, err = f.report("--driver", SIM, "--sim-profile", "h200_x2",
                                 "-b", "64", "-t", *LATENCY)
    equal({c["footprint_bytes"] for c in cells_of(report)}, {2 << 20},
          "what latency goes over with -b 64")

    # What cannot run, and what the exit code says of it.
    code, out, err = f.host("-t", "0", "-b", "1")
    equal(code, 0, f"without a GPU, as if_possible\n{err}")
    contains(out, "Waived: host_to_device_memcpy_ce: skip (no_device)",
             "without a GPU")
    _, out, _ = f.host("-jt", "0", "-b", "1")
    root = read_json(out, "without a GPU")
    equal(root["testcases"][0]["status"], "Waived", "status without a GPU")
    _, out, _ = Machine(f, "no_peer")("-b", "1", "-t", "4")
    contains(out, "Waived: device_to_device_memcpy_read_ce: skip "
             "(no_peer_access)", "no peer access")
    for words, wanted in (([], 4), (["--nvbandwidth-exit-zero"], 0)):
        code, out, _ = two("-jt", "nope", "0", "-b", "1", *words)
        equal(code, wanted, f"exit code of an unknown testcase {words}")
        equal([(c["name"], c["status"])
               for c in read_json(out, "unknown")["testcases"]],
              [("nope", "Not Found"), ("host_to_device_memcpy_ce", "Passed")],
              "an unknown testcase")

    # Pairs that cannot be reached are N/A; lost bytes are an error with a
    # place, and the testcases after it run all the same.
    split = f.write("islands.cfg", (SOURCE / "configs" / "sim" /
                    "laptop_x4.cfg").read_text() +
                    'gpus = ( { index = 3; island = 1; } );\n')
    code, out, _ = Machine(f, split)("-b", "1", "-t", "4")
    rows = read_text(out)["device_to_device_memcpy_read_ce"]["matrices"][0]
    equal([c == "N/A" for c in rows[4][1:]] + [rows[1][4]],
          [True] * 4 + ["N/A"], "islands")
    equal(code, 0, "islands: exit code")
    lossy = {"NVBW_SIM_FAULTS": "peer:drop"}
    for words, wanted in (([], 1), (["--nvbandwidth-exit-zero"], 0)):
        code, out, _ = Machine(f, "laptop_x4")(
            "-b", "1", "-t", "4", "0", *words, env=lossy)
        equal(code, wanted, f"peer:drop: exit code {words}")
        contains(out, "Running device_to_device_memcpy_read_ce.\nError: "
                 "device_to_device_memcpy_read_ce: 12 of 12 cells mismatch",
                 "peer:drop")
        contains(out, "SUM host_to_device_memcpy_ce", "peer:drop")
    _, out, _ = Machine(f, "laptop_x4")("-jb", "1", "-t", "4", env=lossy)
    case = read_json(out, "peer:drop")["testcases"][0]
    equal(case["status"], "Error", "peer:drop: status")
    contains(case["error"], "words of GPU", "peer:drop: error")

finish()
