# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""topo: the machine with and without GPUs, for people and as JSON."""
import re

from harness import *


def sim(profile):
    return ["--driver", SIM, "--sim-profile", profile]


with Folder() as f:
    code, out, err = f.host("topo", *sim("hgx_h200_x8"))
    equal(code, 0, f"topo of eight GPUs ({err})")
    for part in ("SIMULATED", "PCIe Gen5 x16 now, Gen5 x16 at most",
                 "NVLink 18 of 18 active", "near node 1", "NV18",
                 "driver 580.159.04, CUDA 13.0",
                 "GPU 0 to 7 PCIe Gen5 x16: 32 GT/s x 16 lanes x 128/130 / 8",
                 "GPU 0 to 7 NVLink: 18 links x 25 GB/s = 450.0 GB/s"):
        contains(out, part, "topo of eight GPUs")
    check(not any(line != line.rstrip() for line in out.splitlines()),
          "blanks end a line")

    # As nvidia-smi topo -m has it: a row per GPU, X where it is itself.
    rows = [line.split() for line in out.splitlines()
            if re.match(r"  GPU\d+  ", line)]
    equal(rows, [[f"GPU{i}"] + ["X" if i == j else "NV18" for j in range(8)]
                 for i in range(8)], "paths of eight GPUs")
    gpus = re.findall(r"GPU (\d) +NVIDIA H200, (0000:\w\w:00\.0), GPU-", out)
    equal([int(i) for i, _ in gpus], list(range(8)), "eight GPUs")
    equal([pci for _, pci in gpus], sorted(pci for _, pci in gpus),
          "GPUs in the order of the bus")
    nodes = re.findall(r"near node (\d)", out)
    equal(nodes, list("00001111"), "four GPUs on each socket")
    equal(len(re.findall(r"^  node \d +[\d.]+ GiB +CPUs [\d,-]+$", out,
                         re.MULTILINE)), 2, "two nodes with CPUs")

    code, out, err = f.host("list", *sim("hgx_h200_x8"))
    equal(code, 0, f"list on eight GPUs ({err})")
    for part in ("ce_h2d 1.0.0", "device_to_device_memcpy_read_ce",
                 "host_to_all_bidirectional_memcpy_ce"):
        contains(out, part, "list on eight GPUs")
    reasons = set(re.findall(r"cannot run here \((\w+)\)", out))
    check(reasons <= {"no_mpi"},
          f"eight GPUs can run everything that needs no MPI: {reasons}")
    code, out, err = f.host("list", *sim("hgx_h200_x8_p2p_off"))
    contains(out, "can address another's memory", "list without peers")

    code, out, err = f.host("topo", *sim("hgx_h200_x8"), "--devices", "2,5-6")
    contains(out, "GPU 5 to 6 PCIe", "topo of three GPUs")
    check("GPU 2 to" not in out, f"GPU 2 is not next to GPU 5: {out}")
    check("GPU 0 " not in out, f"GPU 0 was not chosen: {out}")

    code, out, err = f.host("topo", *sim("hgx_h200_x8_link_x8"))
    contains(out, "now only PCIe Gen5 x8", "a link of half the lanes")

    code, out, err = f.host("topo", *sim("pcie_switched_acs"))
    contains(out, "ACS redirects peer traffic\n", "topo below such bridges")
    code, out, err = f.host("topo", *sim("pcie_switched"))
    contains(out, "ACS redirects nothing\n", "topo below other bridges")

    code, out, err = f.host("topo", *sim("pcie_dual_socket"))
    for part in ("SYS", "NODE", "no NVLink"):
        contains(out, part, "topo of two sockets")

    code, out, err = f.host("topo", *sim("hgx_h200_x8_p2p_off"))
    contains(out, "NV18*", "topo without peer access")

    code, out, err = f.host("topo", "--json", *sim("h200_x2"))
    equal(code, 0, f"topo --json ({err})")
    topo = json.loads(out)
    equal(len(topo["facts"]["gpus"]), 2, "GPUs in JSON")
    equal({limit["link"] for limit in topo["limits"]},
          {"pcie", "nvlink", "memory"}, "links in JSON")
    equal(topo["limits"][0]["expected"] > 63e9, True, "a limit in bytes/s")

    code, out, err = f.host("topo", *sim("h200_x2"), "--devices", "9")
    equal(code, 2, "topo of a GPU that is not there")
    contains(err, 'no GPU "9"', "topo of a GPU that is not there")

    code, out, err = f.host("topo", "--driver", f.write("no_driver.so", ""))
    equal(code, 0, f"topo without a driver ({err})")
    for part in ("GPUs: none", "NUMA nodes", "node 0"):
        contains(out, part, "topo without a driver")

finish()
