# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""Plugins as vendors build them, by gcc and clang, in C11, C17 and C++17: each
is loaded, measures its cells and is named in the report."""
from harness import *

HEADERS = SOURCE / "plugin_api" / "include"
MAP = SOURCE / "plugin_api" / "cmake" / "nvbw_plugin.map"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-fPIC",
          "-fvisibility=hidden", f"-I{HEADERS}"]
LINK = ["-shared", f"-Wl,--version-script={MAP}", "-Wl,-z,nodelete",
        "-Wl,-z,defs"]
IN_C = """
#include "nvbw/plugin.h"

static int32_t run(struct nvbw_ctx *ctx)
{
    const struct nvbw_cell cell = NVBW_CELL("figure", 0, 0);
    const double samples[] = { 1.0, 2.0, 3.0 };

    return ctx->host->put(ctx, &cell, samples, 3);
}

static const struct nvbw_metric figure = { .size = sizeof figure,
    .unit = NVBW_UNIT_COUNT, .better = NVBW_HIGHER, .name = "figure",
    .help = "Two." };
static const struct nvbw_metric *const metrics[] = { &figure, NULL };
static const struct nvbw_testcase testcase = { .size = sizeof testcase,
    .name = "vendor_" NAME, .summary = "Puts three samples.",
    .help = "Puts three samples.", .metrics = metrics, .run = run };
static const struct nvbw_testcase *const testcases[] = { &testcase, NULL };
const struct nvbw_plugin nvbw_plugin_v1 = { .size = sizeof nvbw_plugin_v1,
    .magic = NVBW_MAGIC, .abi_minor = NVBW_ABI_MINOR, .name = NAME,
    .version = "1.0.0", .summary = "As a vendor builds it.",
    .licence = "Apache-2.0", .testcases = testcases };
"""
IN_CPP = """
#include "nvbw/plugin.h"

#include <numeric>
#include <vector>

namespace {

int32_t run(nvbw_ctx *ctx)
{
    std::vector<double> samples(3);
    nvbw_cell cell{};

    std::iota(samples.begin(), samples.end(), 1.0);
    cell.size = sizeof cell;
    cell.metric = "figure";
    return ctx->host->put(ctx, &cell, samples.data(), samples.size());
}

constexpr nvbw_metric figure = [] {
    nvbw_metric metric{};

    metric.size = sizeof metric;
    metric.unit = NVBW_UNIT_COUNT;
    metric.better = NVBW_HIGHER;
    metric.name = "figure";
    metric.help = "Two.";
    return metric;
}();
constexpr const nvbw_metric *metrics[] = { &figure, nullptr };
constexpr nvbw_testcase testcase = [] {
    nvbw_testcase made{};

    made.size = sizeof made;
    made.name = "vendor_" NAME;
    made.summary = "Puts three samples.";
    made.help = "Puts three samples.";
    made.metrics = metrics;
    made.run = run;
    return made;
}();
constexpr const nvbw_testcase *testcases[] = { &testcase, nullptr };

constexpr nvbw_plugin describe()
{
    nvbw_plugin made{};

    made.size = sizeof made;
    made.magic = NVBW_MAGIC;
    made.abi_minor = NVBW_ABI_MINOR;
    made.name = NAME;
    made.version = "1.0.0";
    made.summary = "As a vendor builds it.";
    made.licence = "Apache-2.0";
    made.testcases = testcases;
    return made;
}

} // namespace

constexpr nvbw_plugin described = describe();
const nvbw_plugin nvbw_plugin_v1 = described;
"""
# Compiler, language and file.
WAYS = [(c, std, "vendor.c") for c in ("gcc", "clang")
        for std in ("c11", "c17")] + \
       [(c, "c++17", "vendor.cpp") for c in ("g++", "clang++")]


def build(f, compiler, std, file):
    """The plugin's name, or None where there is no such compiler."""
    if shutil.which(compiler) is None:
        return None
    name = f"{compiler}_{std}".replace("+", "p")
    out = subprocess.run(
        [compiler, f"-std={std}", f'-DNAME="{name}"', *STRICT, file, *LINK,
         "-o", f"plugins/{name}.so"], cwd=f.path, capture_output=True,
        text=True, check=False)
    check(out.returncode == 0, f"{name}: it does not compile: {out.stderr}")
    return name


with Folder() as f:
    f.write("vendor.c", IN_C)
    f.write("vendor.cpp", IN_CPP)
    (f.path / "plugins").mkdir()
    names = [name for name in (build(f, *way) for way in WAYS) if name]
    if not names:
        skip("there is no compiler")
    f.write("p.cfg", 'name = "vendors"; suites = ( '
            + ", ".join(f'{{ plugin = "{name}"; }}' for name in names) + " );")
    code, report, err = f.report("-c", "p.cfg", "--run-dir", "r",
                                 "--plugin-dir", "plugins", "--trust-plugins")
    equal(code, 0, f"exit code ({err})")
    if report is None:
        finish()
    equal([(c["plugin"], c["testcase"], c["state"], c["figure"])
           for c in cells_of(report)],
          [(name, f"vendor_{name}", "unchecked", 2.0) for name in names],
          "cells")

finish()
