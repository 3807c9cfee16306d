# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What a person sees: colours on a terminal only, matrices that fit it, a live
line with the time left, one line with -q, and at the end of a failing run what
to do and where to look."""
import fcntl
import pty
import re
import struct
import termios

from harness import *

PLAN = """
name = "terminal";
defaults = { mode = "fixed"; buffer_size = "1 MiB"; samples = 3; copies = 2;
  warmup = 1; confirm = 0; };
suites = (
  { plugin = "ce_h2d"; tests = [ "host_to_device_memcpy_ce" ];
    limits = ( { match = "*"; min = "90 % of siblings"; } ); },
  { plugin = "ce_d2d"; tests = [ "device_to_device_memcpy_read_ce" ]; } );
"""
WORDS = ("--driver", SIM, "--sim-profile", "hgx_h200_x8_link_x8",
         "-c", "p.cfg")


def terminal(folder, *words, columns=80, **env):
    """Exit code and what a terminal of that width gets."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [str(HOST), *map(str, words)], cwd=folder.path, stdin=slave,
        stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm", **env})
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(master)
    return process.wait(100), seen.decode(errors="replace")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


with Folder() as f:
    f.write("p.cfg", PLAN)
    code, seen = terminal(f, *WORDS, "--run-dir", "run one")
    equal(code, 1, "exit code")
    contains(seen, "\x1b[1;31m", "colour on a terminal")
    check(re.search(r"\[\d+/64 cells, about \d+ s left\]", seen),
          "the live line says how long it takes")
    report = plain(seen[seen.rindex("\r\x1b[K"):]).replace("\r", "")
    lines = report.splitlines()
    for line in lines[:-3]:
        check(len(line) <= 80, f"a line is too wide: {line}")
    # Eight columns in blocks that fit.
    heads = [line.split() for line in lines
             if line.strip().startswith("GPU 0 ")]
    check(["GPU", "0", "GPU", "1", "GPU", "2", "GPU", "3", "GPU", "4", "GPU",
           "5"] in heads, f"columns are folded: {heads}")
    foot = report[report.index("\nFindings\n"):]
    contains(foot, "GPU 5 runs in too narrow a PCIe link", "finding")
    contains(foot, "-> reseat the GPU", "action")
    equal(foot.splitlines()[-4:],
          ["FAILED: a limit or a data verification failed, exit 1",
           "Run directory: run one", "Worker logs: run one/workers",
           "To pack it for support: tar -czf nvbw-run.tar.gz 'run one'"],
          "the last lines")
    packed = subprocess.run(foot.splitlines()[-1].split(": ")[1], shell=True,
                            cwd=f.path, check=False).returncode
    check(packed == 0 and (f.path / "nvbw-run.tar.gz").exists(), "it packs")

    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        _, seen = terminal(f, "report", "run one", **env)
        check("\x1b[" not in seen, f"no colour with {env}")
    _, seen = terminal(f, "report", "run one", NO_COLOR="")
    contains(seen, "\x1b[1;31m", "an empty NO_COLOR asks for nothing")
    # What a plugin says reaches a terminal in every way, and does nothing there.
    bad = BUILD / "tests/contract/plugins/text_binary"
    f.write("bad.cfg", 'name = "a\x1b[2Jb"; suites = ( { plugin = '
            '"text_binary"; } );')
    code, seen = terminal(f, "-c", "bad.cfg", "--plugin-dir", bad, "-v",
                          "--trust-plugins", "--run-dir", "bad")
    _, again = terminal(f, "report", "bad")
    for text in (seen, again):
        contains(text, "?]0;owned?", f"what the plugin says ({code})")
        rest = re.sub(r"\r\x1b\[K|\x1b\[[0-9;]*m|\r\n", "", text)
        check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ufffd]", rest),
              f"control characters on a terminal: {rest!r}")
    _, seen = terminal(f, "report", "no\x1b[2J\x9b\u202esuch")
    contains(seen, "no?[2J?", "an error")
    check("\x1b" not in seen and "\u202e" not in seen, "an error with escapes")

    _, wide = terminal(f, "report", "run one", columns=200)
    check(re.search(r"GPU 0 .* GPU 7", plain(wide)), "a wide terminal is used")
    code, out, _ = f.host("report", "run one")
    check("\x1b" not in out, "no colour in a pipe")
    code, out, err = f.host(*WORDS, "-q", "--run-dir", "quiet")
    equal((code, out, err), (1, "FAILED: a limit or a data verification "
                             "failed, exit 1 (SIMULATED, profile "
                             "hgx_h200_x8_link_x8)\n", ""), "-q")
    code, out, err = f.host("report", "run one", "--report=text=t.txt", "-q")
    check("\x1b" not in (f.path / "t.txt").read_text(), "no colour in a file")

finish()
