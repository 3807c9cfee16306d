# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The bundle runs from any folder with nothing installed: no library of
others, no glibc symbol newer than 2.34, and its parts find each other."""
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
    needed = set(re.findall(r"NEEDED\s+(\S+)", dump("-p", path)))
    check(needed <= ALLOWED, f"{path.name} needs {needed - ALLOWED}")
    for version in re.findall(r"GLIBC_(\d+\.\d+)", dump("-T", path)):
        number = tuple(map(int, version.split(".")))
        check(number <= NEWEST, f"{path.name} needs glibc {version}")


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
    check(len(files) > 3, f"ELF files in the bundle: {files}")
    for path in files:
        check_elf(path)
    size = (root / "bin/nvbw-host").stat().st_size
    check(size < 1 << 20, f"nvbw-host has {size} bytes, 1 MiB at most")

    program = root / "bin/nvbw-host"
    code, out, err = f.host("check-plan", "-c", "plans/acceptance.cfg",
                            program=program)
    equal(code, 0, f"acceptance.cfg from the bundle ({err})")
    f.write("p.cfg", """suites = ( { plugin = "hostmem";
        params = { buffer_size = "8 MiB"; }; } );""")
    code, out, err = f.host("-c", "p.cfg", "--run-dir", "r", program=program)
    equal(code, 0, f"a run from the bundle ({out}{err})")

finish()
