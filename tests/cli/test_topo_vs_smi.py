# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""tests/bench/topo_vs_smi.py on text in nvidia-smi's layout, written from what
`topo` says of simulated machines: it finds no difference, and finds each that
is made."""
from harness import *

if not SIM.exists():
    skip("the simulated driver is not built")
sys.path.insert(0, str(SOURCE / "tests" / "bench"))
import topo_vs_smi  # noqa: E402


def matrix_of(facts):
    names = [f"GPU{gpu['index']}" for gpu in facts["gpus"]]
    path = {(p["from"], p["to"]): p["path"] for p in facts["pairs"]}
    node = {n["number"]: n for n in facts["nodes"]}
    text = "\t\x1b[4m" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity" \
        "\tGPU NUMA ID\x1b[0m\n"
    for i, gpu in enumerate(facts["gpus"]):
        near = node.get(gpu["near_node"], {"cpus": "N/A", "number": "N/A"})
        text += names[i] + "\t" + "\t".join(
            " X " if i == j else path[i, j] for j in range(len(names))) + \
            f"\t{near['cpus']}\t{near['number']}\t\tN/A\n"
    return text + "\nLegend:\n\n  X    = Self\n"


def nvlink_of(facts):
    text = ""
    for gpu in facts["gpus"]:
        if gpu["nvlinks"]:
            text += f"GPU {gpu['index']}: {gpu['name']} " \
                f"(UUID: {gpu['uuid']})\n"
        for i in range(gpu["nvlinks"]):
            rate = int(gpu["nvlink_rate"] / 1e6) / 1e3
            text += f"\t Link {i}: " + (
                f"{rate:.3f} GB/s\n" if i < gpu["nvlinks_active"]
                else "<inactive>\n")
    return text


def row(depth, name, value=None):
    name = "    " * depth + name
    return f"{name}\n" if value is None else f"{name:<42}: {value}\n"


def query_of(facts):
    cuda = facts["cuda_version"]
    text = "\n==============NVSMI LOG==============\n\n" + \
        row(0, "Timestamp", "Mon Nov 30 10:00:00 2026") + \
        row(0, "Driver Version", facts["driver_version"]) + \
        row(0, "CUDA Version", f"{cuda // 1000}.{cuda % 1000 // 10}") + \
        "\n" + row(0, "Attached GPUs", len(facts["gpus"]))
    for gpu in facts["gpus"]:
        pcie = gpu["pcie"]
        text += f"GPU 0000{gpu['pci'].upper()}\n" + \
            row(1, "Product Name", gpu["name"]) + row(1, "MIG Mode") + \
            row(2, "Current", "Enabled" if gpu["mig"] == 1 else "Disabled") + \
            row(2, "Pending", "Disabled") + \
            row(1, "Serial Number", gpu["serial"] or "N/A") + \
            row(1, "GPU UUID", gpu["uuid"]) + \
            row(1, "VBIOS Version", gpu["vbios"] or "N/A") + \
            row(1, "Board Part Number", gpu["board"] or "N/A") + \
            row(1, "PCI") + row(2, "Bus", "0x08") + \
            row(2, "Bus Id", f"0000{gpu['pci'].upper()}") + \
            row(2, "GPU Link Info") + row(3, "PCIe Generation") + \
            row(4, "Max", pcie["max_generation"]) + \
            row(4, "Current", 1) + \
            row(4, "Device Max", pcie["gpu_max_generation"] or "N/A") + \
            row(3, "Link Width") + row(4, "Max", f"{pcie['max_width']}x") + \
            row(4, "Current", f"{pcie['width']}x") + \
            row(1, "FB Memory Usage") + \
            row(2, "Total", f"{(gpu['memory_bytes'] >> 20) + 616} MiB") + \
            row(2, "Reserved", "616 MiB") + \
            row(1, "Max Clocks") + \
            row(2, "Memory", f"{gpu['memory_clock_hz'] // 10**6} MHz")
    return text


def parts_of(facts):
    return [matrix_of(facts), nvlink_of(facts), query_of(facts)]


# What is changed in nvidia-smi's text, and what must be found different.
CHANGES = [
    (0, "NV18", "NV12", "path from GPU 0 to GPU 1"),
    (0, "\t0\t\tN/A", "\t1\t\tN/A", "GPU 0 node"),
    (1, "Link 17: 26.562 GB/s", "Link 17: <inactive>", "GPU 0 NVLinks up"),
    (1, "\t Link 17: 26.562 GB/s\n", "\t Link 17: <inactive>\n"
     "\t Link 18: 26.562 GB/s\n", "GPU 0 NVLinks"),
    (1, "26.562", "53.125", "GPU 0 rates of its NVLinks in MB/s"),
    (2, "580.159.04", "570.1", "driver"),
    (2, ": 16x\n", ": 8x\n", "GPU 0 PCIe width at most"),
    (2, "00000000:08:00.0\n    Product", "00000000:08:00.0\n    Brand", None),
    (2, "3201 MHz", "2619 MHz", "GPU 0 memory clock in MHz"),
    (2, "143771 MiB", "143770 MiB", "GPU 0 memory in MiB"),
]

with Folder() as f:
    for profile in ("h200_x2", "hgx_h200_x8", "pcie_dual_socket",
                    "hgx_h200_x8_nvlink_down"):
        code, out, err = f.host("topo", "--json", "--driver", SIM,
                                "--sim-profile", profile)
        topo = json.loads(out)
        parts = parts_of(topo["facts"])
        result = topo_vs_smi.compare(topo, *parts)
        equal(result["differences"], [], f"{profile}: differences")
        check(result["compared"] > 10 * len(topo["facts"]["gpus"]),
              f"{profile}: {result['compared']} compared")
        check({row["what"][6:] for row in result["moments"]} <=
              {"PCIe generation now"}, f"{profile}: {result['moments']}")
        if profile == "h200_x2":
            pair, texts = topo, parts
            # What the driver of a real H200 says: NVML's total is 143771 MiB.
            equal([gpu["memory_bytes"] >> 20 for gpu in topo["facts"]["gpus"]],
                  [143155, 143155], "memory that programs can have")
    for part, old, new, wanted in CHANGES:
        changed = list(texts)
        check(old in changed[part], f"{old!r} is not in the text")
        changed[part] = changed[part].replace(old, new, 1)
        result = topo_vs_smi.compare(pair, *changed)
        found = [row["what"] for row in result["differences"]]
        equal(found, [] if wanted is None else [wanted], f"{old!r}")

    # As a program, from files.
    (f.path / "topo").write_text(json.dumps(pair))
    for name, text in zip(("m", "n", "q"), texts):
        (f.path / name).write_text(text)
    words = [sys.executable, SOURCE / "tests/bench/topo_vs_smi.py", "--topo",
             f.path / "topo", "--topo-m", f.path / "m", "--nvlink",
             f.path / "n", "--query", f.path / "q"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    equal((run.returncode, json.loads(run.stdout)["differences"]), (0, []),
          f"from files ({run.stderr})")
    (f.path / "m").write_text(texts[0].replace("NV18", "PIX"))
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    equal(run.returncode, 1, "with differences")

finish()
