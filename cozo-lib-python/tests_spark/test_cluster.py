"""Executors that are processes of their own: script cases, and one that is killed."""

import os
import signal
import subprocess

import cozo
import cozo.spark
from test_cases import check_areas

PATHS = "path[x, y] := *line[x, y]  path[x, y] := path[x, z], *line[z, y]  ?[count(y)] := path[0, y]"


def test_cases_on_separate_executors(cluster, tmp_path):
    check_areas(cluster, ["recursion", "aggr"], tmp_path, 20)


def executors():
    """The processes of executors that this process has started, directly or not."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    found = [line.split(None, 2) for line in listed.splitlines()]
    ours, grown = {str(os.getpid())}, 0
    while grown != len(ours):
        grown = len(ours)
        ours |= {pid for pid, parent, _ in found if parent in ours}
    return [int(pid) for pid, _, command in found if pid in ours and "CoarseGrainedExecutorBackend" in command]


def test_an_executor_that_is_killed_changes_no_answer(cluster):
    line = cluster.range(30).selectExpr("id as a", "id + 1 as b")
    killed = []

    def kill(number, added):
        if number == 4 and not killed:
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)

    with cozo.spark.run(cluster, PATHS, {"line": line}, on_round=kill, checkpoint_rounds=3) as answer:
        assert answer.rows() == [(30,)]
    assert killed, "an executor was there to be killed"
