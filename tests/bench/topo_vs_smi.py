#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""`nvbw-host topo --json` against what nvidia-smi says of the same machine:

    tests/bench/topo_vs_smi.py [--host build/bin/nvbw-host]
        [--topo FILE] [--topo-m FILE] [--nvlink FILE] [--query FILE]

What no file is given for is asked of nvbw-host and of `nvidia-smi topo -m`,
`nvidia-smi nvlink -s` and `nvidia-smi -q`. GPUs are matched by UUID. Prints
JSON: `compared` counts what both sides tell, `differences` says where they do
not agree, `one_side` what only one of them tells, and `moments` figures that
change from one moment to the next (link now, free memory), which are no
difference. Exit 0, 1 with differences, 2 where nothing could be compared."""
import argparse
import json
import re
import subprocess
import sys

ABSENT = (None, "", "N/A", "[N/A]", "Unknown Error", -1)


def ask(path, *command):
    if path is not None:
        with open(path, errors="replace") as file:
            return file.read()
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              errors="replace", check=False, timeout=120)
    except OSError as trouble:
        print(f"{command[0]}: {trouble}", file=sys.stderr)
        return ""
    return done.stdout


# ---- what nvidia-smi says ----

def plain(text):
    """Without the escapes that underline headings."""
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def columns_of(line):
    """Cells of a line of the matrix. Two tabs follow what is short."""
    return [cell.strip() for cell in line.strip("\n").split("\t")]


def parse_matrix(text):
    """{"GPU0": {"GPU1": "NV18", "CPU Affinity": "0-31", ...}}"""
    rows = {}
    heads = []
    for line in plain(text).splitlines():
        cells = columns_of(line)
        if not heads and len(cells) > 1 and "GPU0" in cells:
            heads = [cell for cell in cells if cell]
        elif heads and re.fullmatch(r"GPU\d+", cells[0]):
            values = [cell for cell in cells[1:] if cell]
            rows[cells[0]] = dict(zip(heads, values))
        elif line.startswith("Legend"):
            break
    return rows


def parse_nvlink(text):
    """{uuid: [GB/s or None for one that is down, by link]}"""
    gpus = {}
    links = None
    for line in plain(text).splitlines():
        head = re.search(r"UUID: (\S+?)\)", line)
        link = re.match(r"\s*Link\s+(\d+):\s+(.*)", line)
        if head:
            links = gpus.setdefault(head.group(1), [])
        elif link and links is not None:
            rate = re.match(r"([\d.]+) GB/s", link.group(2))
            links.append(float(rate.group(1)) if rate else None)
    return gpus


def parse_query(text):
    """Flat: ({"Driver Version": ...}, {uuid: {"PCI/Bus Id": ...}})"""
    machine, gpus, path, own = {}, [], [], None
    for line in plain(text).splitlines():
        if re.match(r"GPU [0-9A-Fa-f]{8}:", line):
            own, path = {}, []
            gpus.append(own)
            continue
        found = re.match(r"( *)([^:]+?)\s*(?::\s*(.*))?$", line)
        if not found or not found.group(2).strip():
            continue
        depth = len(found.group(1)) // 4
        path = path[:max(depth - 1, 0)] + [found.group(2).strip()]
        if found.group(3) is not None:
            (machine if own is None else own)["/".join(path)] = \
                found.group(3).strip()
    return machine, {gpu.get("GPU UUID"): gpu for gpu in gpus}


def number(text):
    found = re.match(r"[\d.]+", text or "")
    return float(found.group()) if found else None


# ---- comparing ----

class Outcome:
    def __init__(self):
        self.compared = 0
        self.differences, self.one_side, self.moments = [], [], []

    def look(self, what, ours, theirs, moment=False):
        if ours in ABSENT and theirs in ABSENT:
            return
        row = {"what": what, "nvbw-host": ours, "nvidia-smi": theirs}
        if ours in ABSENT or theirs in ABSENT:
            self.one_side.append(row)
            return
        self.compared += 1
        if ours != theirs:
            (self.moments if moment else self.differences).append(row)


def pci(text):
    """nvidia-smi writes the domain with eight digits."""
    found = re.match(r"(?:0000)?([0-9A-Fa-f]{4}:.*)", text or "")
    return found.group(1).lower() if found else text


def whole(value):
    return None if value is None else int(value)


def usable_memory(theirs):
    """nvidia-smi's total has what the driver keeps for itself, ours has not."""
    total = number(theirs.get("FB Memory Usage/Total"))
    kept = number(theirs.get("FB Memory Usage/Reserved")) or 0
    return None if total is None else int(total - kept)


def compare_gpu(out, gpu, theirs):
    name = f"GPU {gpu['index']}"
    link = "PCI/GPU Link Info/"
    pcie = gpu["pcie"]
    out.look(f"{name} name", gpu["name"], theirs.get("Product Name"))
    out.look(f"{name} PCI address", pci(gpu["pci"]),
             pci(theirs.get("PCI/Bus Id")))
    out.look(f"{name} serial", gpu["serial"], theirs.get("Serial Number"))
    out.look(f"{name} VBIOS", gpu["vbios"], theirs.get("VBIOS Version"))
    out.look(f"{name} board", gpu["board"], theirs.get("Board Part Number"))
    for what, ours, key, moment in (
            ("PCIe generation at most", pcie["max_generation"],
             "PCIe Generation/Max", False),
            ("PCIe generation of the GPU at most", pcie["gpu_max_generation"],
             "PCIe Generation/Device Max", False),
            ("PCIe generation now", pcie["generation"],
             "PCIe Generation/Current", True),
            ("PCIe width at most", pcie["max_width"], "Link Width/Max", False),
            ("PCIe width now", pcie["width"], "Link Width/Current", True)):
        out.look(f"{name} {what}", ours or None,
                 whole(number(theirs.get(link + key))), moment)
    out.look(f"{name} memory in MiB", gpu["memory_bytes"] >> 20,
             usable_memory(theirs))
    out.look(f"{name} memory clock in MHz",
             gpu["memory_clock_hz"] // 10**6 or None,
             whole(number(theirs.get("Max Clocks/Memory"))))
    mig = {"Enabled": 1, "Disabled": 0}.get(theirs.get("MIG Mode/Current"))
    out.look(f"{name} MIG", gpu["mig"] if mig is not None else None, mig)
    out.look(f"{name} fabric state", (gpu["fabric_state"] or "").lower(),
             (theirs.get("Fabric/State") or "").lower())


def compare_links(out, gpu, links):
    name = f"GPU {gpu['index']}"
    up = [rate for rate in links if rate is not None]
    out.look(f"{name} NVLinks", gpu["nvlinks"], len(links))
    out.look(f"{name} NVLinks up", gpu["nvlinks_active"], len(up))
    if up:
        # nvidia-smi cuts after three digits.
        out.look(f"{name} rates of its NVLinks in MB/s",
                 [int(gpu["nvlink_rate"] / 1e6)],
                 sorted({int(rate * 1000 + 0.5) for rate in up}))


def cpus_of(text):
    cpus = set()
    for part in (text or "").split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if ends:
            cpus |= set(range(int(ends.group(1)),
                              int(ends.group(2) or ends.group(1)) + 1))
    return sorted(cpus)


def compare_paths(out, facts, rows):
    """A row of the matrix is of the GPU with nvidia-smi's number, which is the
    order of PCI addresses, as ours is."""
    gpus = facts["gpus"]
    nodes = {node["number"]: node for node in facts["nodes"]}
    for pair in facts["pairs"]:
        here, there = gpus[pair["from"]], gpus[pair["to"]]
        out.look(f"path from GPU {here['index']} to GPU {there['index']}",
                 pair["path"],
                 rows.get(f"GPU{here['index']}", {})
                 .get(f"GPU{there['index']}"))
    for gpu in gpus:
        row = rows.get(f"GPU{gpu['index']}", {})
        node = nodes.get(gpu["near_node"])
        out.look(f"GPU {gpu['index']} node",
                 None if gpu["near_node"] < 0 else gpu["near_node"],
                 whole(number(row.get("NUMA Affinity"))))
        out.look(f"GPU {gpu['index']} CPUs",
                 cpus_of(node["cpus"]) if node else None,
                 cpus_of(row.get("CPU Affinity")) or None)


def compare(topo, matrix, nvlink, query):
    out = Outcome()
    facts = topo["facts"]
    rows, links = parse_matrix(matrix), parse_nvlink(nvlink)
    machine, gpus = parse_query(query)
    cuda = facts["cuda_version"]
    out.look("driver", facts["driver_version"], machine.get("Driver Version"))
    out.look("CUDA", f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
             machine.get("CUDA Version"))
    out.look("GPUs", len(facts["gpus"]),
             whole(number(machine.get("Attached GPUs"))))
    for gpu in facts["gpus"]:
        if gpu["uuid"] in gpus:
            compare_gpu(out, gpu, gpus[gpu["uuid"]])
        else:
            out.one_side.append({"what": f"GPU {gpu['index']} in -q",
                                 "nvbw-host": gpu["uuid"],
                                 "nvidia-smi": None})
        if gpu["uuid"] in links:
            compare_links(out, gpu, links[gpu["uuid"]])
        elif links or gpu["nvlinks"]:
            out.look(f"GPU {gpu['index']} NVLinks", gpu["nvlinks"],
                     0 if nvlink.strip() else None)
    compare_paths(out, facts, rows)
    return vars(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse
                                     .RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="build/bin/nvbw-host")
    for name in ("topo", "topo-m", "nvlink", "query"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    topo = json.loads(ask(given.topo, given.host, "topo", "--json") or "{}")
    if "facts" not in topo:
        print("nvbw-host topo says nothing", file=sys.stderr)
        return 2
    result = compare(topo, ask(given.topo_m, "nvidia-smi", "topo", "-m"),
                     ask(given.nvlink, "nvidia-smi", "nvlink", "-s"),
                     ask(given.query, "nvidia-smi", "-q"))
    print(json.dumps(result, indent=1))
    if result["compared"] == 0:
        return 2
    return 1 if result["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
