# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""docs/recipes: shell scripts parse and do what they say with a failing and
with a healthy machine, YAML is YAML, and every option and plan in them is one
of ours."""
import re

from harness import *

RECIPES = SOURCE / "docs/recipes"
OURS = ("ce_h2d", "host_to_device_memcpy_ce")


PEER = "device_to_device_memcpy_read_ce"


def slurm(folder, script, profile, names=(OURS[1],), **env):
    """What a script tells scontrol, and its exit code."""
    wanted = " ".join(f"-t {name}" for name in names)
    tools = folder.path / "tools"
    for name, body in (
            ("nvbw-host", f"""
case $1 in -*) exec "{HOST}" --driver "{SIM}" --sim-profile {profile} \\
  "$@" {wanted} --set 'defaults.buffer_size="4 MiB"' \\
  --set 'defaults.mode="fixed"' ;; esac
exec "{HOST}" "$@" """),
            ("scontrol", f'printf "%s\\n" "$*" >>"{folder.path}/told"')):
        path = folder.write(f"tools/{name}", f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
    text = (RECIPES / script).read_text().replace(
        "/var/lib/nvbw", str(folder.path / "var")).replace('"60 s"', '"5 s"')
    told = folder.path / "told"
    told.unlink(missing_ok=True)
    result = subprocess.run(
        ["bash", "-c", text], capture_output=True, text=True, check=False,
        cwd=folder.path, timeout=100 * PATIENCE,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", **env})
    equal(result.stderr, "", f"{script} on {profile}")
    return result.returncode, told.read_text() if told.exists() else ""


def run_tool(path, *words):
    if shutil.which(words[0]):
        result = subprocess.run([*words, path], text=True, check=False,
                                capture_output=True)
        equal((result.returncode, result.stdout), (0, result.stdout),
              f"{words[0]} {path.name}")


def check_job(folder, job):
    """What the Job's container is asked for, on a simulated machine."""
    container = job["spec"]["template"]["spec"]["containers"][0]
    words = [x.replace("/runs", str(folder.path / "runs"))
             for x in container["args"]]
    code, _, err = folder.host(
        "--driver", SIM, "--sim-profile", "h200_x2", *words, "-t", OURS[1],
        "--set", 'defaults.buffer_size="4 MiB"',
        "--set", 'defaults.mode="fixed"')
    equal(code, 0, f"the Job's arguments ({err})")
    for name in ("junit.xml", "run.html"):
        check((folder.path / "runs" / name).exists(), f"the Job's {name}")


with Folder() as f:
    _, usage, _ = f.host("--help")
    for path in RECIPES.iterdir():
        text = path.read_text()
        if path.suffix == ".sh":
            result = subprocess.run(["bash", "-n", path], capture_output=True,
                                    text=True, check=False)
            equal(result.stderr, "", path.name)
            run_tool(path, "shellcheck")
        elif path.suffix == ".yaml":
            run_tool(path, "yamllint", "-s", "-d", "relaxed")
            if "ansible" in path.name:
                run_tool(path, "ansible-playbook", "--syntax-check")
            try:
                import yaml
                recipe = yaml.safe_load(text)
                check(recipe, f"{path.name} is empty")
                if path.name == "kubernetes-job.yaml":
                    check_job(f, recipe)
            except ImportError:
                pass
        for plan in re.findall(r"plans/\w+\.cfg", text):
            check((SOURCE / "configs" / plan).is_file(), f"{path.name}: {plan}")
        for name in re.findall(r"nvbw-host[^\n]*? (--[a-z-]+)", text):
            contains(usage, name, path.name)

    limit = """@include "quick.cfg"
    limits = ( { match = "*"; min = "90 % of siblings"; } );"""
    shutil.copy(SOURCE / "configs/plans/quick.cfg", f.path)
    plan = f.write("prolog.cfg", limit)
    code, told = slurm(f, "slurm-prolog.sh", "hgx_h200_x8", NVBW_PLAN=str(plan))
    equal((code, told), (0, ""), "a healthy node is left alone")
    code, told = slurm(f, "slurm-prolog.sh", "hgx_h200_x8_link_x8",
                       NVBW_PLAN=str(plan))
    equal(code, 1, "a bad link holds the job")
    contains(told, "State=DRAIN", "a bad link drains")
    contains(told, "GPU 5 runs in too narrow a PCIe link", "with its reason")

    # The epilog's budget has room for some of the pairs only.
    both = (OURS[1], PEER)
    whole = ("--driver", SIM, "--sim-profile", "hgx_h200_x8", "-c",
             "plans/quick.cfg", "--run-dir", "var/first",
             *(word for name in both for word in ("-t", name)),
             "--set", 'defaults.buffer_size="4 MiB"',
             "--set", 'defaults.mode="fixed"')
    f.write("var/.made", "")
    code, _, err = f.host(*whole)
    equal(code, 0, f"the first run ({err})")
    f.host("baseline", "var/first", "-o", "var/baseline.ndjson")
    _, told = slurm(f, "slurm-epilog.sh", "hgx_h200_x8", both)
    equal(told, "", "a healthy node is left alone")
    code, out, err = f.host("compare", "var/baseline.ndjson", "var/epilog")
    equal(code, 0, f"left out is not lost ({out}{err})")
    check(re.search(r" 0 lost, [1-9]\d* left out", out), out)
    check(out.endswith("no cell is slower, exit 0\n"), out)
    _, told = slurm(f, "slurm-epilog.sh", "hgx_h200_x8_slow_gpu", both)
    contains(told, "State=DRAIN", "a slow GPU drains")
    check(re.search(r"Reason=nvbw-host: SLOWER +ce_", told), told)

finish()
