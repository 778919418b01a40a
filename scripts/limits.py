#!/usr/bin/env python3
"""Says what binds a kernel, by ncu's counters.

    scripts/limits.py PARITYCHECK [-o TABLE.md] [--size large] [OP:DTYPES ...]

On a machine with an NVIDIA GPU, PyTorch and ncu. paritycheck bench dumps the
launches of the ops, which ncu profiles with the cache overwritten before
each. A row has the time; the shares of the memory's, the L2's and the SMs'
peak rates that the kernel reaches; the share of cycles in which a scheduler
issues; and the resident warps as a share of what an SM holds. Memory near
90 % is the memory's limit, issue near 80 % that of the instructions, and
neither of the two means that warps wait: for memory's latency, for atomics
or for one another.
"""

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

from agreement import entries_of

METRICS = {
    "gpu__time_duration.sum": "µs",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "memory, %",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2, %",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "SM, %",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue, %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps, %",
}

# What docs/kernels.md lists below 0.90 of the copy.
OPS = [
    "neg:f32,f16", "log:bf16", "cos:bf16", "powf:f32,f16,bf16", "layer_norm:f16,bf16", "softmax:f16,bf16", "rope_i:f32",
    "rope:f32", "fast_sum:f32,f16", "fast_max:f32,f16", "fast_argmax:f32,f16", "sum:f32,f16,bf16",
    "upsample_nearest2d:f32,f16", "gather:u32_f32,u32_f16", "scatter:u32_f32", "scatter_add:u32_f32",
    "index_add:u32_f16",
]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paritycheck")
    p.add_argument("ops", nargs="*", default=OPS)
    p.add_argument("-o", "--output", help="write the table to this file too")
    p.add_argument("--size", default="large")
    args = p.parse_args()
    times = 2  # the first warms up
    with tempfile.TemporaryDirectory() as tmp:
        folders = []
        for i, op in enumerate(args.ops):
            name, _, dtypes = op.partition(":")
            folder = os.path.join(tmp, str(i))
            done = subprocess.run([args.paritycheck, "bench", name, "--dtype", dtypes, "--size", args.size, "--target", "cuda@cuda:0", "-q",
                                   "--no-check", "--no-batch", "--time-limit", "5ms", "--dump", folder], capture_output=True, text=True)
            if os.path.exists(os.path.join(folder, "launches.json")):
                folders.append(folder)
            else:
                print(f"{op}: {done.stderr.strip()}", file=sys.stderr)
        entries = [e for _, e in entries_of(folders)]
        replay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agreement.py")
        cmd = ["ncu", "--clock-control", "none", "--cache-control", "none", "--metrics", ",".join(METRICS), "--csv", "--page", "raw", "--print-units", "base",
               "-k", "regex:^(" + "|".join(sorted({e["kernel"] for e in entries})) + ")$",
               sys.executable, replay, "--times", str(times), "--replay", *folders]
        out = subprocess.run(cmd, capture_output=True, text=True)
    text = out.stdout.splitlines()
    head = next((i for i, line in enumerate(text) if line.startswith('"ID"')), None)
    if out.returncode or head is None:
        sys.exit(f"ncu: exit code {out.returncode}: {out.stdout[-1500:]}{out.stderr[-1500:]}")
    rows = [r for r in csv.DictReader(io.StringIO("\n".join(text[head:]))) if r["ID"]]  # the units have no ID
    if len(rows) != times * len(entries):
        sys.exit(f"ncu profiled {len(rows)} launches, want {times} of each of {len(entries)}")
    lines = ["| kernel | " + " | ".join(METRICS.values()) + " |", "|---|" + "--:|" * len(METRICS)]
    for i, e in enumerate(entries):
        r = rows[i * times + times - 1]
        cells = []
        for m, title in METRICS.items():
            v = float(r[m].replace(",", ""))
            cells.append(f"{v / 1e3:.1f}" if title == "µs" else f"{v:.0f}")
        lines.append(f"| {e['kernel']} | " + " | ".join(cells) + " |")
    print("\n".join(lines))
    if args.output:
        with open(args.output, "w") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
