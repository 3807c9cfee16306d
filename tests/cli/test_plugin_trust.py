# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Which plugin a run gets (C22) and whether it is trusted (C23): doubles,
pins by file and sha256, files that others could have changed."""
import hashlib

from harness import *

NULL = PLUGINS / "null.so"
SKELETON = PLUGINS / "skeleton.so"
PLAN = """
defaults = { buffer_size = "1 MiB"; };
suites = ( { plugin = "null"; tests = [ "null_cell" ]; %s } );
"""


def run(f, pin="", *words):
    f.write("p.cfg", PLAN % pin)
    shutil.rmtree(f.path / "r", ignore_errors=True)
    return f.report("-c", "p.cfg", "--run-dir", "r", *words)


def refused_plan(f, pin, *words):
    f.write("p.cfg", PLAN % pin)
    code, _, err = f.host("-c", "p.cfg", "--run-dir", "no", *words)
    equal(code, 2, f"exit code of {pin} {words} ({err})")
    check(not (f.path / "no").exists(), f"{pin}: a run was written")
    return err


def plugin_of(report):
    found = [p for p in report["plugins"] if p["name"] == "null"]
    return found[0] if found else {}


def put(f, name, source=NULL):
    path = f.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)
    path.parent.chmod(0o755)
    path.chmod(0o755)
    return path


def check_doubles():
    with Folder() as f:
        put(f, "a/null.so")
        put(f, "a/other.so")
        err = refused_plan(f, "", "--plugin-dir", "a")
        contains(err, "a/null.so", "two of one name in a folder")
        contains(err, "a/other.so", "two of one name in a folder")
    with Folder() as f:
        put(f, "a/mine.so")
        code, report, err = run(f, "", "--plugin-dir", "a")
        equal(code, 0, f"two of one name in two folders ({err})")
        contains(err, "a/mine.so is used", "the earlier is named")
        contains(err, str(PLUGINS / "null.so"), "the later is named")
        contains(plugin_of(report)["file"], "a/mine.so", "the one in use")


def check_pins():
    good = hashlib.sha256(NULL.read_bytes()).hexdigest()
    with Folder() as f:
        mine = put(f, "b/mine.so")
        code, report, err = run(f, f'file = "{mine}"; sha256 = "{good}";')
        equal(code, 0, f"pinned by file and sha256 ({err})")
        check("warning" not in err, f"a pin is silent ({err})")
        equal(plugin_of(report)["file"], str(mine), "the pinned file")
        equal(plugin_of(report)["sha256"], good, "its sha256")
        code, _, err = run(f, f'sha256 = "{good.upper()}";')
        equal(code, 0, f"sha256 in capitals ({err})")

        bad = "0" * 64
        err = refused_plan(f, f'sha256 = "{bad}";')
        contains(err, bad, "the sha256 that the plan wants")
        contains(err, good, "the sha256 that is there")
        contains(refused_plan(f, 'sha256 = "12";'), "64 hex digits", "short")

        with open(mine, "ab") as out:
            out.write(b"\n")
        err = refused_plan(f, f'file = "{mine}"; sha256 = "{good}";')
        contains(err, "the plan wants", "a file that was changed")

        other = put(f, "b/skeleton.so", SKELETON)
        err = refused_plan(f, f'file = "{other}";')
        contains(err, "is not plugin", "a file that is another plugin")
        err = refused_plan(f, 'file = "b/absent.so";')
        contains(err, "b/absent.so", "a file that is not there")

        one, two = put(f, "c/one.so"), put(f, "c/two.so")
        f.write("p.cfg", f"""suites = (
            {{ plugin = "null"; id = "one"; file = "{one}"; }},
            {{ plugin = "null"; id = "two"; file = "{two}"; }} );""")
        code, _, err = f.host("-c", "p.cfg", "--run-dir", "no")
        equal(code, 2, f"one name pinned to two files ({err})")
        contains(err, "pinned to two files", "one name, two files")


def untrusted(f, path, what, reason):
    """Refused without --trust-plugins, and recorded with it."""
    words = ["--plugin-dir", path.parent]
    code, report, err = run(f, "", *words)
    equal(code, 5, f"{what}: exit code ({err})")
    cell = cells_of(report)[0]
    equal((cell["state"], cell["reason"]), ("error", "refused"), what)
    contains(cell["message"], reason, f"{what}: message")

    code, report, err = run(f, "", *words, "--trust-plugins")
    equal(code, 0, f"{what}, trusted by option ({err})")
    check(not plugin_of(report).get("trusted"), f"{what}: not recorded")
    text = (f.path / "r" / "journal.ndjson").read_text()
    contains(text, '"trusted":0', f"{what}: journal")


def check_trust():
    with Folder() as f:
        code, report, err = run(f, "", "--plugin-dir",
                                put(f, "good/null.so").parent)
        equal(code, 0, f"a trusted plugin ({err})")
        check(plugin_of(report).get("trusted"), "a trusted plugin: recorded")

        path = put(f, "world/null.so")
        path.chmod(0o757)
        untrusted(f, path, "writable by all", "writable by everyone")
        path = put(f, "group/null.so")
        path.chmod(0o775)
        if os.getuid() == 0:
            os.chown(path, 0, 12345)
            untrusted(f, path, "writable by a group", "writable by group")
        path = put(f, "parent/null.so")
        path.parent.chmod(0o777)
        untrusted(f, path, "a folder writable by all", "folder")
        path = put(f, "link/real/null.so")
        path.parent.chmod(0o777)
        os.symlink(path, f.path / "link" / "null.so")
        untrusted(f, f.path / "link" / "null.so", "a link into such a folder",
                  "writable by everyone")
        if os.getuid() != 0:
            return
        path = put(f, "foreign/null.so")
        os.chown(path, 12345, 12345)
        untrusted(f, path, "of a foreign owner", "belongs to user 12345")
        path = put(f, "foreign_folder/null.so")
        os.chown(path.parent, 12345, 12345)
        untrusted(f, path, "in a foreign folder", "belongs to user 12345")


check_doubles()
check_pins()
check_trust()
finish()
