"""Programs that are run by an interpreter of their own."""

import subprocess
import sys
import textwrap


def run(code, *arguments, timeout=60):
    """Runs a program, which must end by itself; what it printed, and how it ended."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def printed(code, *arguments, timeout=60):
    """What a program prints that ends well."""
    ended = run(code, *arguments, timeout=timeout)
    assert ended.returncode == 0, (ended.returncode, ended.stdout, ended.stderr)
    return ended.stdout
