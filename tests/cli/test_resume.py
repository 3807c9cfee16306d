# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""SIGKILL of the host at seeded moments, then resume: every cell is there
once, and what stood in the journal at the kill is not measured again. Set
NVBW_RESUME_ROUNDS for more rounds; NVBW_RESUME_SHOW=1 prints what was lost."""
import random
import time

from harness import *

PLAN = """
name = "broken off";
defaults = { buffer_size = "8 MiB"; mode = "fixed"; samples = 5; copies = 8; };
suites = ( { plugin = "null"; tests = [ "null_cell" ];
             params = { cells = 20; }; },
           { plugin = "hostmem"; } );
repeat = 3;
"""
ROUNDS = int(os.environ.get("NVBW_RESUME_ROUNDS", "5"))
SHOW = os.environ.get("NVBW_RESUME_SHOW")


def shape(report):
    return sorted((c["unit_id"], c["metric"], c["row"], c["col"],
                   c["state"]) for c in cells_of(report))


def key(cell):
    return (cell["unit"], cell["metric"], cell["row"], cell["col"],
            cell["attempt"])


def settled(run_dir):
    """The journal's cells in order; a line that was torn is none."""
    text = (run_dir / "journal.ndjson").read_bytes()
    lines = text[:text.rfind(b"\n") + 1].splitlines()
    return [o["data"] for o in map(json.loads, lines) if o["type"] == "cell"]


def check_journals(before, after, what):
    """What was settled stays first and untouched, and is not in the rest."""
    equal(after[:len(before)], before, f"{what}: the cells of the first part")
    twice = {key(c) for c in before} & {key(c) for c in after[len(before):]}
    check(not twice, f"{what}: settled twice: {sorted(twice)}")


def show(i, killed_ns, before, after):
    if not SHOW or not before:
        return
    rest = after[len(before):]
    unseen_ms = (killed_ns - before[-1]["end_ns"]) / 1e6
    longest_ms = max((c["end_ns"] - c["begin_ns"] for c in rest[:30]),
                     default=0) / 1e6
    print(f"round {i}: {len(before)} cells, the last {unseen_ms:.0f} ms "
          f"before the kill; next cells take up to {longest_ms:.0f} ms")


def kill_rerun(folder):
    """Whether a rerun was killed between its first line and its last."""
    journal_file = folder.path / "rerun/journal.ndjson"
    length = journal_file.stat().st_size
    run = folder.start("resume", "rerun", "--rerun-failed")
    while journal_file.stat().st_size == length and run.poll() is None:
        time.sleep(0.002)
    run.kill()
    run.wait()
    rest = journal_file.read_bytes()[length:]
    return rest != b"" and b'"type":"end"' not in rest


def broken_rerun(folder):
    """A finished run whose rerun was broken off."""
    folder.write("fails.cfg", PLAN + 'limits = ( { match = "*"; min = '
                 '"900 TB/s"; } );\n')
    equal(folder.host("-c", "fails.cfg", "-q", "--run-dir", "rerun")[0], 1,
          "a run that fails")
    return any(kill_rerun(folder) for _ in range(5))


with Folder() as f:
    f.write("p.cfg", PLAN)
    started = time.monotonic()
    code, whole, err = f.report("-c", "p.cfg", "--run-dir", "whole")
    length = time.monotonic() - started
    equal(code, 0, f"unbroken run ({err})")
    rng = random.Random(20261129)
    for i in range(ROUNDS):
        run = f.start("-c", "p.cfg", "--run-dir", f"r{i}")
        time.sleep(rng.uniform(0.05, length))
        killed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        run.kill()
        run.wait()
        path = f.path / f"r{i}"
        if not (path / "journal.ndjson").exists():
            continue
        before = settled(path)
        code, report, err = f.report("resume", f"r{i}")
        if "journal has no" in err:
            equal(before, [], f"round {i}: cells of a run that never began")
            continue
        equal(code, 0, f"resume {i} ({err})")
        if report is not None:
            equal(shape(report), shape(whole), f"cells after resume {i}")
        after = settled(path)
        check_journals(before, after, f"round {i}")
        equal(len(after), len({key(c) for c in after}),
              f"round {i}: cells and different cells")
        show(i, killed_ns, before, after)

    # What the run had come to before a rerun is not what it has come to now.
    check(broken_rerun(f), "no rerun could be killed before its end")
    code, out, err = f.host("merge", "rerun")
    equal(code, 4, f"merge of a rerun that was killed ({err})")
    contains(out, "the run was not finished", "merge of a killed rerun")
    equal(f.host("resume", "rerun", "-q")[0], 1, "the rerun goes on")
    equal(f.host("merge", "rerun")[0], 1, "merge of the finished rerun")

finish()
