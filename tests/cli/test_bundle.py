# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The bundle runs from any folder with nothing installed: no library but glibc
and what stands beside (multinode asks for the site's MPI), no glibc symbol newer
than 2.34, and its parts find each other. An install finds its parts as well,
and can be moved."""
import re
import tarfile

from harness import *

ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
           "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST = (2, 34)


def elf_files(root):
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def dump(*words):
    return subprocess.run(["objdump", *map(str, words)], capture_output=True,
                          text=True, check=True).stdout


def check_elf(path):
    head = dump("-p", path)
    wanted = set(re.findall(r"NEEDED\s+(\S+)", head)) - ALLOWED
    if path.name in ("multinode.so", "multicast.so"):
        # MPI is the site's; without it the plugin is skipped (missing_library).
        wanted = {name for name in wanted if not name.startswith("libmpi")}
    beside = {name for name in wanted if (path.parent / name).is_file()}
    check(wanted == beside, f"{path.name} needs {wanted - beside}")
    folders = re.findall(r"(?:RUNPATH|RPATH)\s+(\S+)", head)
    equal(folders, ["$ORIGIN"] if beside else [], f"run path of {path.name}")
    for version in re.findall(r"GLIBC_(\d+\.\d+)", dump("-T", path)):
        number = tuple(map(int, version.split(".")))
        check(number <= NEWEST, f"{path.name} needs glibc {version}")


def check_moved(f, root):
    """What a person does with an installed tree, from another folder."""
    program = root / "bin/nvbw-host"
    for plan in ("plans/acceptance.cfg", "plans/quick.cfg"):
        code, _, err = f.host("check-plan", "-c", plan, program=program)
        equal(code, 0, f"{plan} from {root} ({err})")
    f.write("hostmem.cfg", """suites = ( { plugin = "hostmem";
        params = { buffer_size = "8 MiB"; }; } );""")
    code, out, err = f.host("-c", "hostmem.cfg", "--run-dir", f"{root}.host",
                            program=program)
    equal(code, 0, f"a run from {root} ({out}{err})")

    f.write("ce.cfg", """suites = ( { plugin = "ce_h2d";
        params = { buffer_size = "1 MiB"; mode = "fixed"; copies = 4; };
        } );""")
    link = f.path / "linked"
    link.unlink(missing_ok=True)
    link.symlink_to(program)
    code, out, err = f.host(
        "-c", "ce.cfg", "--driver", root / "lib/nvbw/sim/libcuda_sim.so",
        "--sim-profile", "h200_x2", "--run-dir", f"{root}.sim", program=link)
    equal(code, 0, f"a simulated run from {root} ({out}{err})")
    contains(out, "GB/s", f"a simulated run from {root}")


if not shutil.which("objdump"):
    skip("objdump is not installed")

with Folder() as f:
    subprocess.run(["cpack", "-G", "TGZ", "-B", str(f.path)], cwd=BUILD,
                   stdout=subprocess.DEVNULL, check=True)
    bundle = next(f.path.glob("nvbw-host-*.tar.gz"))
    with tarfile.open(bundle) as tar:
        tar.extractall(f.path / "moved")
    root = next((f.path / "moved").iterdir())
    files = list(elf_files(root))
    names = {path.name for path in files}
    check({"nvbw-host", "nvbw-worker", "null.so", "libcuda_sim.so",
           "libnvml_sim.so"} <= names, f"ELF files in the bundle: {names}")
    for path in files:
        check_elf(path)
    size = (root / "bin/nvbw-host").stat().st_size
    check(size < 1 << 20, f"nvbw-host has {size} bytes, 1 MiB at most")
    check((root / "share/doc/nvbw-host/third_party.txt").is_file(),
          "the bundle names the libraries of others")
    check_moved(f, root)

    subprocess.run(["cmake", "--install", str(BUILD), "--prefix",
                    str(f.path / "first")], stdout=subprocess.DEVNULL,
                   check=True)
    (f.path / "first").rename(f.path / "second")
    check_moved(f, f.path / "second")

finish()
