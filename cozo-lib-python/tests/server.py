"""A `cozo server` for tests, of the binary that COZO_BINARY names."""

import os
import subprocess

BINARY = os.environ.get("COZO_BINARY")


class Server:
    """A server on a free port, with its working directory."""

    def __init__(self, directory, *arguments):
        command = [BINARY, "server", "-P", "0", "--log-format", "json", *arguments]
        self.process = subprocess.Popen(command, cwd=directory, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "listening" in line:
                self.address = line.split('"address":"')[1].split('"')[0].replace("0.0.0.0", "127.0.0.1")
                return
        raise RuntimeError("the server ended")

    def stop(self):
        self.process.terminate()
        self.process.stderr.close()
        assert self.process.wait(timeout=60) == 0
