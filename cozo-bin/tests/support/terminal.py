"""Runs a program in a terminal of 24 lines and 80 columns, as a person would.

Arguments: the program and its arguments. Standard input has JSON: a list of [WAIT, TYPE], for each of which TYPE is sent when
WAIT has come after what was awaited before; a third element are seconds to wait longer. Everything that the terminal showed goes to standard output.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

PATIENCE_SECONDS = 60

steps = json.load(sys.stdin)
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
shown, awaited, last = b"", 0, time.monotonic()
while time.monotonic() - last < PATIENCE_SECONDS:
    if steps:
        found = shown.find(steps[0][0].encode(), awaited)
        if found >= 0:
            awaited = found + len(steps[0][0].encode())
            time.sleep(sum(steps[0][2:]))
            os.write(terminal, steps.pop(0)[1].encode())
            last = time.monotonic()
    if select.select([terminal], [], [], 0.05)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        if not piece:
            break
        shown += piece
else:
    os.kill(child, 9)
os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
if steps:
    sys.exit(f"never shown: {steps[0][0]!r} in {shown[awaited:].decode(errors='replace')}")
