"""What the server's OpenAPI document says, tried with valid and hostile requests that schemathesis makes up."""

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import server

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]


def test_requests_that_are_made_up_are_answered_as_documented(tmp_path, address):
    # Streams of events do not end by themselves.
    command = [
        *[Path(sys.executable).with_name("st"), "run", f"{address}/openapi.json"],
        *["--checks", ",".join(CHECKS), "--exclude-path-regex", "^/(changes|rules)/"],
        *["--phases", "examples,coverage,fuzzing", "--max-examples", "20", "--seed", "1", "--request-timeout", "30"],
        *["--no-color", "--warnings", "off"],
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert "tested" in ran.stdout.lower(), ran.stdout
    with urllib.request.urlopen(f"{address}/health", timeout=60) as health:
        assert health.read() == b'{"ok":true}'
