"""Runs a program in a terminal, as a person would.

Arguments: the program and its arguments. TERMINAL_SIZE has lines and columns, such as 24x80. Standard input has JSON: a list
of [WAIT, TYPE], for each of which TYPE is typed, a character at a time, when WAIT has come after what was awaited before; a
third element are seconds to wait longer. WAIT may be a list, of which any will do. Everything that the terminal showed goes to
standard output.
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
lines, columns = map(int, os.environ.get("TERMINAL_SIZE", "24x80").split("x"))
child, terminal = pty.fork()
if child == 0:
    # The program finds its terminal as large as it will be.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
shown, awaited, last, typing = b"", 0, time.monotonic(), []
while time.monotonic() - last < PATIENCE_SECONDS:
    if not typing and steps:
        wanted = steps[0][0] if isinstance(steps[0][0], list) else [steps[0][0]]
        found = [(shown.find(text.encode(), awaited), len(text.encode())) for text in wanted]
        found = min((place for place in found if place[0] >= 0), default=None)
        if found:
            awaited = sum(found)
            time.sleep(sum(steps[0][2:]))
            typing = list(steps.pop(0)[1])
            last = time.monotonic()
    if typing:
        os.write(terminal, typing.pop(0).encode())
    if select.select([terminal], [], [], 0 if typing else 0.05)[0]:
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
