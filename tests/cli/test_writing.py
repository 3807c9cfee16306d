# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What cannot be written: reports, run directories, the journal of a run in its
midst. Never half a file under its final name, never a report lost because of
another, never a part of a plan forgotten by `resume`."""
import fcntl

from harness import *

PLAN = """
name = "written";
suites = ( { plugin = "null"; tests = [ "null_cell" ]; } );
repeat = 60;
"""
SMALL = PLAN.replace("60", "1")


def is_whole(path):
    """Lines of JSON, the last one too."""
    for line in path.read_text().splitlines():
        json.loads(line)


def names_told_before(f):
    """A name that cannot be written to is told before anything runs."""
    (f.path / "folder.json").mkdir()
    (f.path / "link.json").symlink_to("aim.json")
    for name, words in (("no/x.json", "No such file"),
                        ("folder.json", "is a directory"),
                        ("link.json", "is a symbolic link")):
        for given in (["-c", f.write("p.cfg", SMALL), "--report",
                       f"json={name}"],
                      ["-c", f.write("q.cfg", SMALL + f"""
                       reports = ( {{ format = "json"; file = "{name}"; }} );
                       """)]):
            code, _, err = f.host(*given, "--run-dir", "early")
            equal(code, 2, f"exit code of {name}")
            contains(err, words, f"error of {name}")
            check(not (f.path / "early").exists(), f"{name}: it ran")
    check(not (f.path / "aim.json").exists(), "written through a link")


def into_the_run(f):
    """A folder that the run makes need not be there before."""
    plan = f.write("p.cfg", SMALL)
    for where, name in (("runs/a", "runs/a/x.json"), ("runs/b", "runs/x.json"),
                        ("./r//c/", "r/c/x.json")):
        shutil.rmtree(f.path / "runs", ignore_errors=True)
        code, _, err = f.host("-c", plan, "--run-dir", where, "--report",
                              f"json={name}")
        equal(code, 0, f"{name} with {where}: {err}")
        check((f.path / name).exists(), f"{name} with {where}")
    code, _, err = f.host("-c", plan, "--run-dir", "s/a", "--report",
                          "json=s/ab/x.json")
    equal(code, 2, f"a folder beside the run's: {err}")


def one_of_two_reports(f):
    """A report that fails takes neither the next nor the text with it."""
    (f.path / "old.json").write_text("old")
    code, out, err = f.host(
        "-c", f.write("p.cfg", SMALL), "--run-dir", "two", "--report",
        "json=/dev/full", "--report", "json=old.json", "--report",
        f"csv={f.path / 'good.csv'}")
    equal(code, 4, "exit code")
    contains(err, "/dev/full: No space left", "error")
    contains(err, "`nvbw-host report two --report FORMAT=FILE`", "advice")
    contains(out, "PASSED", "text")
    check((f.path / "good.csv").stat().st_size > 0, "the report after it")
    equal(json.loads((f.path / "old.json").read_text())["exit_code"], 0,
          "the report that replaced an old one")


def closed_descriptors(f):
    """What is printed never goes into a file that got the number 1 or 2."""
    plan = f.write("p.cfg", SMALL)
    for number, shut in enumerate((">&-", ">&- 2>&-", "<&- >&- 2>&-")):
        where = f.path / f"shut{number}"
        code = subprocess.run(
            ["sh", "-c", f'exec "$@" {shut}', "sh", HOST, "-v", "-c", plan,
             "--run-dir", where], check=False, cwd=f.path,
            stderr=subprocess.DEVNULL).returncode
        equal(code, 0, f"exit code with {shut}")
        equal((where / "lock").read_bytes(), b"", f"lock with {shut}")
        is_whole(where / "journal.ndjson")
        equal(f.host("verify", where)[0], 0, f"verify with {shut}")


def nobody_reads(f):
    """stdout is a pipe that was closed: the run is kept, exit 4."""
    ends = os.pipe()
    os.close(ends[0])
    code = subprocess.run([HOST, "-c", f.write("p.cfg", SMALL), "--run-dir",
                           "pipe"], check=False, cwd=f.path, stdout=ends[1],
                          stderr=subprocess.DEVNULL).returncode
    os.close(ends[1])
    equal(code, 4, "exit code without a reader")
    equal(f.host("verify", "pipe")[0], 0, "verify without a reader")


def goes_on(f, where, report):
    """The resumed run has every cell of the plan."""
    code, out, err = f.host("resume", where, "--report", f"json={report}")
    equal(code, 0, f"exit code of resume: {out} {err}")
    report = json.loads((f.path / report).read_text())
    equal(report["counts"]["planned"], 60 * 16, "cells of the resumed run")
    equal(report["counts"]["unchecked"], 60 * 16, "cells that it measured")


def limited_size(f):
    """`ulimit -f` in the midst of the run: what was measured is told, and a
    resumed run is whole."""
    plan = f.write("p.cfg", PLAN)
    whole = f.path / "whole"
    equal(f.host("-c", plan, "--run-dir", whole)[0], 0, "unlimited")
    text = (whole / "journal.ndjson").read_bytes()
    head = text.index(b'"begun"')
    # Within the head; just after it; in the midst of the cells.
    for number, most in enumerate((head // 2, head + 1024,
                                   (head + len(text)) // 2)):
        where = f"limit{number}"
        run = subprocess.run(
            ["prlimit", f"--fsize={most}", HOST, "-c", plan, "--run-dir", where],
            capture_output=True, text=True, check=False, cwd=f.path)
        equal(run.returncode, 4, f"exit code at {most} bytes: {run.stderr}")
        contains(run.stderr, f"writing {where}/journal.ndjson: File too large",
                 f"error at {most} bytes")
        check(not (f.path / where / "summary.ndjson").exists(),
              f"{most} bytes: it looks finished")
        if number == 0:
            code, _, err = f.host("resume", where)
            equal(code, 2, "resume of half a head")
            contains(err, "begin it anew", "resume of half a head")
            continue
        contains(run.stderr, f"`nvbw-host resume {where}`", "advice")
        contains(run.stdout, "INCOMPLETE", "text of what was measured")
        contains(run.stdout, "960 cells planned", "cells")
        goes_on(f, where, f"limit{number}.json")


def full_disk(f):
    """The same on a file system that is full, where we may mount one."""
    small = f.path / "small"
    small.mkdir()
    script = f'''mount -t tmpfs -o size=56k none "{small}" || exit 77
        "$@"; code=$?
        mount -o remount,size=4m "{small}"
        "$0" resume "{small}/run" -q; echo "$code $?"'''
    run = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, HOST, HOST, "-c",
         f.write("p.cfg", PLAN.replace("60", "12")), "--run-dir", small / "run",
         "-q"], capture_output=True, text=True, check=False, cwd=f.path)
    if run.returncode != 0:
        return
    code, again = run.stdout.splitlines()[-1].split()
    equal(code, "4", f"exit code on a full disk: {run.stderr}")
    contains(run.stderr, "No space left on device", "error on a full disk")
    check((again == "0") != ("begin it anew" in run.stderr or
                             "no header" in run.stderr),
          f"resume after a full disk: {again} {run.stderr}")


def read_only(f):
    """Where nothing can be written nothing is run, where we may mount that."""
    still = f.path / "still"
    still.mkdir()
    script = f'''mount -t tmpfs -o ro none "{still}" || exit 77
        "$@"; echo "$?"'''
    run = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, HOST, HOST, "-c",
         f.write("p.cfg", SMALL), "--run-dir", still / "run", "-q"],
        capture_output=True, text=True, check=False, cwd=f.path)
    if run.returncode != 0:
        return
    equal(run.stdout.splitlines()[-1], "2", "exit code, nothing can be written")
    contains(run.stderr, "Read-only file system", "what is told")


def one_directory(f):
    """A second run in the directory of another is refused, and so is a resume
    of one that is being written."""
    plan = f.write("p.cfg", SMALL)
    equal(f.host("-c", plan, "--run-dir", "mine")[0], 0, "first")
    before = (f.path / "mine" / "journal.ndjson").read_bytes()
    code, _, err = f.host("-c", plan, "--run-dir", "mine")
    equal(code, 2, "second run in one directory")
    contains(err, "holds a run already", "second run in one directory")
    equal((f.path / "mine" / "journal.ndjson").read_bytes(), before,
          "journal of the first")
    with open(f.path / "mine" / "lock", "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, _, err = f.host("resume", "mine")
    equal(code, 2, "resume of a locked run")
    contains(err, "mine", "resume of a locked run")


for case in (names_told_before, into_the_run, one_of_two_reports, closed_descriptors,
             nobody_reads, limited_size, full_disk, read_only, one_directory):
    with Folder() as folder:
        case(folder)
finish()
