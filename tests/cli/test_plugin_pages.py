# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""docs/plugins has a page per bundled plugin, made from its descriptors.
NVBW_DOCS=write makes the pages anew."""
import re

from harness import *

PAGES = SOURCE / "docs/plugins"


def param(one):
    text = f"* `{one['name']}` ({one['type']}"
    for key, word in (("default_text", "default"), ("min_text", "at least"),
                      ("max_text", "at most")):
        if one.get(key):
            text += f", {word} {one[key]}"
    if "." in one["name"] and one.get("default_text") is None:
        text += ", must be given"
    text += f"): {one.get('help') or ''}\n"
    for name, words in zip(one.get("choices") or [],
                           one.get("choices_help") or []):
        text += f"  * `{name}`: {words}\n"
    return text


def metric(one):
    axes = [f"{word} {one[key]}" for key, word in (
        ("rows", "rows"), ("cols", "columns")) if one.get(key)]
    return (f"* `{one['name']}` ({one['unit']}, {one['better']} is better"
            f"{''.join(', ' + x for x in axes)}): {one.get('help') or ''}\n")


def page(plugin):
    text = (f"# {plugin['name']}\n\n<!-- made by tests/cli/test_plugin_pages.py"
            f" -->\n\n{plugin['summary']}\n\nVersion {plugin['version']}, "
            f"{plugin['licence']}. Parameters that every testcase has are in "
            "[run-plan.md](../run-plan.md).\n")
    for case in plugin["testcases"]:
        text += f"\n## {case['name']}\n\n{case['summary']}\n"
        if case.get("help"):
            text += f"\n{case['help']}\n"
        if case.get("tags"):
            text += f"\nTags: {', '.join(case['tags'])}.\n"
        if case.get("need_gpus"):
            text += f"\nNeeds {case['need_gpus']} GPUs or more.\n".replace(
                "1 GPUs or more", "a GPU")
        text += "\nMetrics:\n\n" + "".join(map(metric, case["metrics"]))
        if case.get("params"):
            text += "\nParameters of its own:\n\n" + "".join(
                map(param, case["params"]))
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


with Folder() as f:
    code, out, err = f.host("list", "--json")
    equal(code, 0, f"list --json ({err})")
    plugins = [p for p in json.loads(out)["plugins"] if p.get("installed", 1)]
    check(len(plugins) >= 10, "the bundled plugins are listed")
    for plugin in plugins:
        path = PAGES / f"{plugin['name']}.md"
        if os.environ.get("NVBW_DOCS") == "write":
            PAGES.mkdir(exist_ok=True)
            path.write_text(page(plugin))
        check(path.exists() and path.read_text() == page(plugin),
              f"{path.relative_to(SOURCE)} is not what the plugin says; "
              f"NVBW_DOCS=write {sys.argv[0]} makes it anew")

finish()
