# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""An ordinary user measures what root measures and writes only what is his;
where the file is set-user-ID, his environment does not choose what is loaded."""
from harness import *

NOBODY = 65534
PLAN = """
name = "privilege";
defaults = { mode = "fixed"; buffer_size = "8 MiB"; copies = 2; samples = 1;
  warmup = 0; };
suites = ( { plugin = "hostmem"; tests = [ "host_memory_read" ]; },
           { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ]; },
           { plugin = "ce_d2d";
             tests = [ "device_to_device_memcpy_write_ce" ]; } );
"""


def install(folder):
    """The tree where everybody can read it; a checkout may be in /root."""
    target = folder.path / "tree"
    for part in ("bin/nvbw-host", "libexec", "lib/nvbw", "share/nvbw"):
        source = BUILD / part
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target / part)
        else:
            shutil.copy2(source, target / part)
    folder.path.chmod(0o755)
    return target


def as_nobody(folder, tree, *words, env=None):
    out = subprocess.run(
        ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
         "--clear-groups", str(tree / "bin" / "nvbw-host"), *map(str, words)],
        cwd=folder, env={**os.environ, "HOME": "/", **(env or {})},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)
    return out.returncode, out.stdout, out.stderr


def states(report):
    return [(c["testcase"], c["row"], c["col"], c["state"], c["reason"])
            for c in cells_of(report)]


def test_same_as_root(folder, tree, own):
    words = ("--driver", tree / "lib/nvbw/sim/libcuda_sim.so", "--sim-profile",
             "h200_x2", "-c", folder.path / "p.cfg", "--run-dir", "r",
             "--report", "json=report.json")
    code, _, err = folder.host(*words, program=tree / "bin" / "nvbw-host")
    equal(code, 0, f"root ({err})")
    root = json.loads((folder.path / "report.json").read_text())
    code, _, err = as_nobody(own, tree, *words)
    if not equal(code, 0, f"nobody ({err})"):
        return
    mine = json.loads((own / "report.json").read_text())
    equal(states(mine), states(root), "states")
    for path in own.rglob("*"):
        equal(path.stat().st_uid, NOBODY, f"owner of {path}")
        check(path.stat().st_mode & 0o022 == 0, f"others may write {path}")
    # Where he may not write, nothing is begun.
    code, _, err = as_nobody(folder.path, tree, *words)
    equal(code, 2, f"a folder that is not his ({err})")
    contains(err, "Permission denied", "a folder that is not his")


def test_environment(folder, tree, own):
    """As an ordinary file the host takes plugins from where its user says; as
    a set-user-ID file it does not."""
    theirs = own / "plugins"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    shutil.copy2(BUILD / "tests/contract/plugins/abort_run/abort_run.so", theirs)
    os.chown(theirs / "abort_run.so", NOBODY, NOBODY)
    env = {"NVBW_PLUGIN_PATH": str(theirs)}
    code, text, err = as_nobody(own, tree, "list", env=env)
    contains(text, "abort_run 1.0", f"an ordinary user's plugins ({err})")
    host = tree / "bin" / "nvbw-host"
    host.chmod(0o4755)
    code, text, err = as_nobody(own, tree, "list", env=env)
    if os.statvfs(host).f_flag & os.ST_NOSUID:
        return
    equal(code, 0, f"set-user-ID ({err})")
    check("abort_run" not in text + err,
          "set-user-ID: his environment was believed")


if os.geteuid() != 0:
    skip("not run by root, who alone can become another user")
if shutil.which("setpriv") is None:
    skip("no setpriv")
if not SIM.exists():
    skip("this build has no simulated driver")
with Folder() as f:
    f.write("p.cfg", PLAN)
    tree = install(f)
    own = f.path / "own"
    own.mkdir()
    os.chown(own, NOBODY, NOBODY)
    test_same_as_root(f, tree, own)
    test_environment(f, tree, own)

finish()
