#!/usr/bin/python3
"""Does a sweep on a real Slurm cluster give what one machine gives? Eight shards, one killed midway
and requeued, and the dependent merge.

Usage: sweep_slurm_test.py ACCSIM. Exit code 77 (skipped) without Slurm, munge or root.
"""

import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHARDS = 8
KILLED = 3
# What is done is stored once a second. A shard has 204 points of some 20 ms each: long enough to be
# caught midway, where a processor is twice as fast, too.
SPEC = f"""
base: {ROOT}/configs/64x64.yaml
axes:
  act_kib: {{field: buffers.activation.kib, values: [32, 48, 64, 96, 128, 192, 256]}}
  weight_kib: {{field: buffers.weight.kib, values: [32, 48, 64, 96, 128, 192, 256]}}
  dram_gbps:
    range: {{from: 6, to: 105, step: 3}}
    fields:
      dram.read_bytes_per_cycle: dram_gbps * 2 / 3
      dram.write_bytes_per_cycle: dram_gbps / 3
constraints: [act_kib + weight_kib <= 448]
models: [{{file: {ROOT}/models/resnet18_op13.onnx}}]
effort: search
"""


def run(*args, environment=None, **kwargs):
    done = subprocess.run(
        [str(a) for a in args],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        **kwargs,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{args}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def stored(path):
    """Points in a store that may not be there yet."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM points").fetchone()[0]
    except sqlite3.Error:
        return 0


def wait_for(what, condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def check(accsim, dir, environment):
    spec = dir / "space.yaml"
    spec.write_text(SPEC)
    dry = run(
        accsim,
        "sweep",
        "submit",
        spec,
        "--nodes",
        SHARDS,
        "--dry-run",
        environment=environment,
        cwd=dir,
    )
    assert "--array=1-8" in dry and not (dir / "space.slurm").exists(), dry
    said = run(accsim, "sweep", "submit", spec, "--nodes", SHARDS, environment=environment, cwd=dir)
    array, merge = re.match(r"submitted array (\d+) of 8 shards and merge (\d+)", said).groups()

    shard = dir / "space.slurm" / f"shard-{KILLED}.sqlite"
    wait_for("first points of the shard", lambda: stored(shard) > 0)

    def state(job):
        return run("scontrol", "-o", "show", "job", job, environment=environment)

    running = state(f"{array}_{KILLED}")
    assert "JobState=RUNNING" in running, f"the shard wasn't under way any more: {running}"
    run("scontrol", "requeue", f"{array}_{KILLED}", environment=environment)
    # Slurm lets a requeued job wait for two minutes, unless told.
    wait_for("the requeue", lambda: "JobState=PENDING" in state(f"{array}_{KILLED}"))
    run("scontrol", "update", f"JobId={array}_{KILLED}", "StartTime=now", environment=environment)
    wait_for("the merge", lambda: "JobState=COMPLETED" in state(merge))
    again = state(f"{array}_{KILLED}")
    assert "Restarts=1" in again, f"the shard wasn't requeued: {again}"
    log = (dir / "space.slurm" / f"shard-{KILLED}.log").read_text()
    print(log)

    run(accsim, "sweep", spec, "--store", dir / "one.sqlite", cwd=dir)

    def dump(store):
        return run(accsim, "sweep", "show", store, "--dump")

    one, merged = dump(dir / "one.sqlite"), dump(dir / "space.sqlite")
    assert one.count("\n") > 1500, one[:500]
    assert one == merged, "the merged store differs from that of one machine"
    print(f"{SHARDS} shards, one requeued: {stored(dir / 'space.sqlite')} points as on one machine")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    accsim = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        dir = pathlib.Path(scratch)
        cluster = dir / "cluster"
        started = subprocess.run(
            [HERE / "cluster", "start", cluster, "--cpus", "2"], check=False
        ).returncode
        if started != 0:
            # Containers without the rights that slurmd needs are no fault of the sweep.
            print("SKIPPED: no Slurm cluster can be started here (reason above)", file=sys.stderr)
            return 77
        try:
            check(accsim, dir, {**os.environ, "SLURM_CONF": str(cluster / "slurm.conf")})
        except (RuntimeError, AssertionError) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            for log in sorted([*cluster.glob("*.log"), *dir.glob("*.slurm/*.log")]):
                print(
                    f"== {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]),
                    file=sys.stderr,
                )
            return 1
        finally:
            subprocess.run([HERE / "cluster", "stop", cluster], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
