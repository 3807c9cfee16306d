# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""The JSON report keeps its shipped schema, by a validator of others."""
from harness import *

try:
    import jsonschema
except ImportError:
    skip("python3-jsonschema is not installed")

schema = json.loads(
    (BUILD / "share/nvbw/schema/report.schema.json").read_text())
validator = jsonschema.Draft202012Validator(schema)
validator.check_schema(schema)

PLANS = {
    "healthy": 'suites = ( { plugin = "null"; tests = [ "null_cell" ]; } );',
    "skipped": 'suites = ( { plugin = "ce_h2d"; } );',
    "failed": """suites = ( { plugin = "null"; tests = [ "null_cell" ];
        limits = ( { match = "null_cell"; min = "1000000 count"; } ); } );""",
}

with Folder() as f:
    for name, text in PLANS.items():
        f.write("p.cfg", text)
        _, report, _ = f.report("-c", "p.cfg", "--run-dir", name)
        for error in validator.iter_errors(report):
            fault(f"{name}: {list(error.path)}: {error.message[:200]}")
    broken = dict(report, exit_code="0")
    check(list(validator.iter_errors(broken)), "the schema refuses nothing")

finish()
