# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Bad plans through the whole host: exit 2, nothing written, and on stderr
what the plan's .expect file says, line by line, and no more."""
import re
import stat

from harness import *

PLANS = SOURCE / "tests" / "cli" / "bad_plans"
# Not a mistake, but a warning: the plugin is refused and its cell says so.
WARNINGS_ONLY = {"refused_plugin"}
GOOD = 'suites = ( { plugin = "null"; } );\n'


def shown(line):
    """A line of an .expect file as the host prints it."""
    file, number, text = line.split(":", 2)
    mark = ""
    if text.startswith(" warning: "):
        mark, text = "warning: ", text[len(" warning:"):]
    place = file if number == "0" else f"plan {file}:{number}"
    return f"nvbw-host: {mark}{place}:{text}"


def tail(count):
    words = "mistake" if count == 1 else "mistakes"
    return f"nvbw-host: {count} {words} in the plan, nothing was run"


def wanted_of(path):
    lines = [shown(l) for l in path.read_text().splitlines()]
    return lines + [tail(sum("warning: " not in l for l in lines))]


def refused(folder, name, *extra):
    """Runs a plan that must be refused; returns stderr."""
    code, out, err = folder.host("-c", name, "--run-dir", "r", *extra,
                                 timeout=60)
    equal(code, 2, f"{name}: exit code ({err[:500]})")
    equal(out, "", f"{name}: stdout")
    check(not (folder.path / "r").exists(), f"{name}: a run was written")
    return err


def known_plugins():
    return {path.stem for path in PLUGINS.glob("*.so")}


def check_collection():
    for path in sorted(PLANS.glob("*.cfg")):
        text = path.read_text(errors="replace")
        named = set(re.findall(r'plugin = "(\w+)"', text))
        if path.stem in WARNINGS_ONLY or "latency" in named - known_plugins():
            continue
        with Folder() as f:
            for other in PLANS.glob("*.cfg"):
                shutil.copy(other, f.path)
            if not path.with_suffix(".expect").exists():
                continue
            err = refused(f, path.name)
            got = [l for l in err.splitlines()
                   if not l.startswith("nvbw-host: warning: plugin folder")]
            equal(got, wanted_of(path.with_suffix(".expect")), path.name)


def check_files():
    with Folder() as f:
        os.mkfifo(f.path / "fifo.cfg")
        contains(refused(f, "fifo.cfg"), "a pipe", "a FIFO")
        contains(refused(f, "/dev/zero"), "a device", "a device")
        f.write("folder/.keep", "")
        contains(refused(f, "folder"), "folder", "a folder without plans")
        os.symlink("loop.cfg", f.path / "loop.cfg")
        contains(refused(f, "loop.cfg"), "symbolic links", "a circle of links")
        f.write("dirs/a.cfg", GOOD)
        os.symlink(".", f.path / "dirs" / "b.cfg")
        contains(refused(f, "dirs"), "folder", "a folder within a folder")
        f.write("large.cfg", GOOD + "#" * (10 << 20))
        contains(refused(f, "large.cfg"), "has at most", "10 MB")
        f.write("binary.cfg", b"\x7fELF\x00\xff" * 100)
        contains(refused(f, "binary.cfg"), "not a text file", "binary")
        f.write("latin.cfg", b'name = "\xff\xfe\x1b[2J";\n' + GOOD.encode())
        code, report, err = f.report("-c", "latin.cfg", "--run-dir", "latin")
        equal(code, 0, f"a name that is no UTF-8 ({err})")
        equal(report["plan"]["name"], "???[2J", "its name")
        f.write("empty.cfg", "")
        contains(refused(f, "empty.cfg"), "no suite", "an empty plan")
        contains(refused(f, "absent.cfg"), "absent.cfg", "no file")
        f.write("deep.cfg", "a = " + "(" * 1000 + ")" * 1000 + ";\n")
        contains(refused(f, "deep.cfg"), "nested more than", "depth 1000")
        f.write("many.cfg", "suites = (" + ",".join(
            ['{ plugin = "null"; }'] * 100000) + ");\n")
        check(len(refused(f, "many.cfg")) < 100000, "a flood of mistakes")
        f.write("long.cfg", 'name = "' + "x" * 500000 + '";\nbad = 1;\n' + GOOD)
        contains(refused(f, "long.cfg"), "unknown key", "a long text")


def check_unreadable():
    with Folder() as f:
        path = f.write("secret.cfg", GOOD)
        path.chmod(0)
        f.path.chmod(stat.S_IRWXU | stat.S_IROTH | stat.S_IXOTH)
        if os.access(path, os.R_OK):
            return  # root reads everything
        contains(refused(f, "secret.cfg"), "Permission denied", "unreadable")


check_collection()
check_files()
check_unreadable()
finish()
