# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Simulated machines, healthy and faulty, with what must be said of each: the
findings with the GPUs that they name, the exit code and the states."""
from harness import *

PLAN = """
name = "diagnosis";
defaults = { mode = "fixed"; buffer_size = "8 MiB"; copies = 2; samples = 1;
  warmup = 0; required = "if_possible"; verify = false; };
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_write_ce" ];
    params = { buffer_size = "1 GiB"; }; },
  { plugin = "local"; tests = [ "device_local_copy" ];
    params = { buffer_size = "1 GiB"; }; } );
"""
# Both directions of one link; only where that matters.
BOTH_WAYS = """
suites = ( { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce",
  "device_to_host_memcpy_ce", "host_to_device_bidirectional_memcpy_ce" ]; } );
"""
# All GPUs at once; only where that matters.
AT_ONCE = """
suites = ( { plugin = "ce_h2d"; id = "at_once";
  tests = [ "host_to_all_memcpy_ce" ]; } );
"""
KERNELS_AT_ONCE = """
suites = ( { plugin = "sm_d2d"; tests = [ "one_to_all_read_sm" ]; } );
"""
NO_HOST = 'suites = ( { plugin = "ce_h2d"; enabled = false; } );'
NO_PAIRS = 'suites = ( { plugin = "ce_d2d"; enabled = false; } );'
LINK, MEMORY = "physical link", "memory kind and NUMA side"
THROTTLE, CROWD = "throttling", "concurrency and serialisation"
COUNTED = "errors counted"

NARROW8 = """pcie = { width = 8; down = 28.5; up = 28.5; duplex = 51.1; };
  rate = { h2d = 27.75; d2h = 27.7; };"""
# Of a link that the facts do not tell of, as in a guest.
HIDDEN8 = """pcie = { down = 28.5; up = 28.5; duplex = 51.1; };
  rate = { h2d = 27.75; d2h = 27.7; };"""
FEWER = "nvlink = { active = 12; in = 265.0; out = 265.0; duplex = 524.0; };"
HOT = "memory_rate = 2400.0; rate = { local = 1060.0; };"


def gpu(number, *settings):
    return f"{{ index = {number}; {' '.join(settings)} }}"


def machine(base, *gpus, more=""):
    own = f"gpus = ( {', '.join(gpus)} );" if gpus else ""
    return f'base = "{base}"; name = "made"; {own} {more}'


# A name of a shipped machine or the text of one; (family, id, gpu, peer) of
# every finding in order; exit code; the states that occur.
OK = {"unchecked"}
HEALTHY = [(name, [], 0, states) for name, states in (
    ("laptop_x4", OK), ("h200_x1", OK | {"skip"}), ("h200_x2", OK),
    ("hgx_h200_x8", OK), ("dgx_a100_x8", OK),
    ("grace_hopper", OK | {"skip"}), ("pcie_dual_socket", OK),
    ("pcie_switched", OK),
    ("mig", OK | {"skip"}), ("no_peer", OK | {"skip"}))]
SHIPPED = [
    ("hgx_h200_x8_link_x8", [(LINK, "pcie_width", 5, None)], 0, OK),
    ("hgx_h200_x8_gen3", [(LINK, "pcie_generation", 2, None)], 0, OK),
    ("hgx_h200_x8_nvlink_down", [(LINK, "nvlink_down", 6, None)], 0, OK),
    ("hgx_h200_x8_p2p_off", [(LINK, "p2p_off", None, None)], 0,
     OK | {"skip"}),
    ("hgx_h200_x8_far_numa", [(MEMORY, "numa_side", None, None)], 0, OK),
    ("hgx_h200_x8_throttled", [(THROTTLE, "throttled", 3, None)], 3,
     OK | {"invalid"}),
    ("hgx_h200_x8_throttled", [(THROTTLE, "slow_clocks", 3, None)], 0, OK,
     "telemetry = { enabled = false; };"),
    ("hgx_h200_x8_slow_gpu", [(THROTTLE, "slow_gpu", 7, None)], 0, OK),
    ("pcie_switched_acs", [(LINK, "acs_redirect", None, None)], 0, OK),
    ("pcie_switched_iommu", [(LINK, "iommu_translates", None, None)], 0, OK),
    ("hgx_h200_x8_gpu_lost", [(None, "gpu_lost", 4, None)], 3, None),
]
MADE = [
    # Utilisation of 31.5 GB/s: 70 % is usual, 28 % is not.
    (machine("laptop_x4", more="count = 1; gpu = { pcie = { gen = 4; "
             "max_gen = 4; }; rate = { h2d = 22.4; d2h = 22.4; }; };"),
     [], 0, OK | {"skip"}),
    (machine("laptop_x4", more="count = 1; gpu = { pcie = { gen = 4; "
             "max_gen = 4; }; rate = { h2d = 8.9; d2h = 8.9; }; };"),
     [(LINK, "pcie_triage", 0, None)], 0, OK | {"skip"}),
    (machine("h200_x1", gpu(0, NARROW8)),
     [(LINK, "pcie_width", 0, None)], 0, OK | {"skip"}),
    # Narrow though nothing says so: only its siblings tell.
    (machine("hgx_h200_x8", gpu(1, HIDDEN8)),
     [(LINK, "pcie_gpu", 1, None)], 0, OK),
    # The same where GPUs have nothing but this link between them.
    (machine("pcie_dual_socket", gpu(3, """pcie = { down = 14.0; up = 14.0; };
       rate = { h2d = 13.1; d2h = 13.1; };""")),
     [(LINK, "pcie_gpu", 3, None)], 0, OK),
    # The slot itself is narrower than those of its siblings.
    (machine("pcie_dual_socket", gpu(3, """pcie = { width = 8; max_width = 8;
       down = 14.0; up = 14.0; }; rate = { h2d = 13.1; d2h = 13.1;
       peer_read = 12.0; peer_write = 12.7; };""")),
     [(LINK, "pcie_slot", 3, None)], 0, OK),
    # An idle link's speed is no finding.
    (machine("hgx_h200_x8", gpu(0, "pcie = { gen = 1; };")), [], 0, OK),
    (machine("h200_x2", gpu(1, FEWER)),
     [(LINK, "nvlink_down", 1, None)], 0, OK),
    (machine("h200_x2", more="gpu = { peer = 0; };"),
     [(LINK, "p2p_off", 0, 1)], 0, OK | {"skip"}),
    (machine("h200_x2", more="gpu = { rate = { peer_read = 42.0; "
             "peer_write = 42.0; }; };"),
     [(LINK, "nvlink_pcie_speed", 0, 1)], 0, OK),
    (machine("dgx_a100_x8", more="gpu = { rate = { peer_read = 22.0; "
             "peer_write = 22.0; }; };"),
     [(LINK, "nvlink_pcie_speed", None, None)], 0, OK),
    # All links up, yet slow both ways: retries.
    (machine("hgx_h200_x8", gpu(2, "nvlink = { in = 350.0; out = 350.0; };")),
     [(LINK, "nvlink_gpu", 2, None)], 0, OK),
    # One way only is enough.
    (machine("dgx_a100_x8", gpu(7, "nvlink = { in = 200.0; };")),
     [(LINK, "nvlink_gpu", 7, None)], 0, OK),
    # Redirecting or translating is no fault by itself: peers that are fast all
    # the same, or over NVLink.
    *((machine(name, more=f"gpu = {{ pcie = {{ acs = 1; redirect_rate = 0.0; }};"
               f" }}; host = {{ iommu = {iommu}; }};"), [], 0, OK)
      for name in ("pcie_switched", "pcie_dual_socket", "hgx_h200_x8",
                   "dgx_a100_x8") for iommu in ('"off"', '"translated"')),
    # Nor are slow peers where neither is there: this is another fault.
    (machine("pcie_switched", more="gpu = { rate = { peer_read = 9.0; "
             "peer_write = 9.0; }; }; host = { iommu = \"passthrough\"; };"),
     [], 0, OK),
    # Nor what an IOMMU has no part in: a slow link of the sockets, a GPU whose
    # host is at the end of another link, a pair that is slow beside fast ones.
    (machine("pcie_dual_socket", more="host = { between_nodes = 10.0; "
             "iommu = \"translated\"; };"), [], 0, OK),
    (machine("grace_hopper", more="count = 2; host = { "
             "iommu = \"translated\"; };"), [], 0, OK),
    (machine("pcie_switched", gpu(0, "rate = { peer_read = 9.0; "
             "peer_write = 9.0; };"),
             more='gpu = { pcie = { redirect_rate = 0.0; }; }; host = { '
             'iommu = "translated"; };'),
     [(LINK, "nvlink_gpu", 0, None)], 0, OK),
    # One switch of two, both at once, and beside another fault.
    (machine("pcie_switched", gpu(0, "pcie = { acs = 1; };"),
             gpu(1, "pcie = { acs = 1; };")),
     [(LINK, "acs_redirect", 0, 1)], 0, OK),
    (machine("pcie_switched_acs", more='host = { iommu = "translated"; };'),
     [(LINK, "acs_redirect", None, None),
      (LINK, "iommu_translates", None, None)], 0, OK),
    (machine("pcie_switched_acs", gpu(3, """pcie = { width = 8; down = 14.0;
       up = 14.0; }; rate = { h2d = 13.1; d2h = 13.1; };""")),
     [(LINK, "pcie_width", 3, None), (LINK, "acs_redirect", 0, 1)], 0, OK),
    # The host was not measured: by the link itself.
    (machine("pcie_switched_acs"), [(LINK, "acs_redirect", None, None)], 0, OK,
     NO_HOST),
    (machine("pcie_switched"), [], 0, OK, NO_HOST),
    # One socket: all of its GPUs.
    (machine("hgx_h200_x8", *(gpu(i, "rate = { h2d = 36.0; d2h = 36.0; };")
                              for i in (4, 5, 6, 7))),
     [(MEMORY, "socket_low", None, None)], 0, OK),
    (machine("laptop_x4", gpu(2, "rate = { local = 300.0; };")),
     [(THROTTLE, "slow_clocks", 2, None)], 0, OK),
    # Two faults at once, on two GPUs and on one.
    (machine("hgx_h200_x8", gpu(5, NARROW8), gpu(6, FEWER)),
     [(LINK, "pcie_width", 5, None), (LINK, "nvlink_down", 6, None)], 0, OK),
    (machine("hgx_h200_x8", gpu(3, NARROW8), gpu(4, HOT)),
     [(LINK, "pcie_width", 3, None), (THROTTLE, "slow_clocks", 4, None)], 0,
     OK),
    (machine("hgx_h200_x8", gpu(0, HOT, FEWER)),
     [(LINK, "nvlink_down", 0, None), (THROTTLE, "slow_clocks", 0, None)], 0,
     OK),
    # Somebody else's work is told where it may be the reason.
    (machine("hgx_h200_x8", gpu(4, HOT), more='faults = "busy=4";'),
     [(THROTTLE, "slow_clocks", 4, None), ("other load", "busy", 4, None)], 0,
     OK),
    (machine("hgx_h200_x8", more='faults = "busy=4";'), [], 0, OK),
    # Errors that are counted in mid-run, whatever the figures are.
    (machine("laptop_x4", more='faults = "replays=1@9";'),
     [(COUNTED, "pcie_replays", 1, None)], 3, OK),
    (machine("laptop_x4", more='faults = "nvlink_errors=2@9,ecc=3@9";'),
     [(COUNTED, "nvlink_errors", 2, None),
      (COUNTED, "memory_errors", 3, None)], 3, OK),
    (machine("laptop_x4", more='faults = "xid=0@9";'),
     [(COUNTED, "xid", 0, None)], 3, OK),
    # A link that trains down after the facts were read.
    (machine("h200_x2", more='faults = "pcie=1@2";'),
     [(LINK, "pcie_under_load", 1, None)], 0, OK),
    # What must run at once does not.
    (machine("laptop_x4", more='faults = "kernel:serial";'),
     [(CROWD, "serialised", None, None)], 4, {"unchecked", "invalid"},
     KERNELS_AT_ONCE),
    (machine("h200_x2"), [], 0, OK, AT_ONCE),
    # A group that is low only while all copy at once, and its twin.
    ("hgx_h200_x8_uplink", [(CROWD, "shared_uplink", None, None)], 0, OK,
     AT_ONCE),
    ("hgx_h200_x8", [], 0, OK, AT_ONCE),
    # One direction at a time, on one GPU and on all of a machine; a narrow
    # link that carries both ways; two faults at once.
    (machine("h200_x2", more="gpu = { pcie = { duplex = 57.0; }; };"),
     [(CROWD, "half_duplex", 0, None), (CROWD, "half_duplex", 1, None)], 0,
     OK, BOTH_WAYS),
    (machine("h200_x2", gpu(1, NARROW8)),
     [(LINK, "pcie_width", 1, None)], 0, OK, BOTH_WAYS),
    (machine("hgx_h200_x8", gpu(2, "pcie = { duplex = 57.0; };"),
             gpu(4, HOT, FEWER)),
     [(LINK, "nvlink_down", 4, None), (CROWD, "half_duplex", 2, None),
      (THROTTLE, "slow_clocks", 4, None)], 0, OK, BOTH_WAYS),
    *((name, [], 0, states, BOTH_WAYS) for name, states in (
        ("h200_x2", OK), ("h200_x1", OK | {"skip"}), ("laptop_x4", OK),
        ("grace_hopper", OK | {"skip"}))),
    # A rack.
    (machine("gb200_nvl72"), [], 0, OK, NO_PAIRS),
    (machine("gb200_nvl72", gpu(41, FEWER)),
     [(LINK, "nvlink_down", 41, None)], 0, OK),
]


def look(folder, number, profile, findings, wanted, states, more=""):
    name = profile
    if "=" in profile:
        name = str(folder.write(f"made_{number}.cfg", profile))
    folder.write("p.cfg", PLAN)
    folder.write("more.cfg", more)
    code, report, err = folder.report(
        "--driver", SIM, "--sim-profile", name, "-c", "p.cfg",
        "-c", "more.cfg", "--run-dir", f"run_{number}",
        env={"NVBW_SIM_SEGMENT": str(folder.path / f"{number}.machine")})
    about = profile[:150]
    equal(code, wanted, f"{about}: exit code {err[-300:]}")
    if report is None:
        return
    equal([(x["family"], x["id"], x["gpu"], x["peer"])
           for x in report["findings"]], findings, f"{about}: findings")
    for finding in report["findings"]:
        check(finding["what"] and finding["action"], f"{about}: {finding}")
    if states is not None:
        equal({cell["state"] for cell in cells_of(report)}, states,
              f"{about}: states")
    check_conservation(report)


with Folder() as f:
    rows = HEALTHY + SHIPPED + MADE
    check(len(rows) >= 25, f"{len(rows)} machines only")
    wanted = {int(n) for n in sys.argv[1:]} or set(range(len(rows)))
    for number, row in enumerate(rows):
        if number in wanted:
            look(f, number, *row)

finish()
