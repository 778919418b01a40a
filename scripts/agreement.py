#!/usr/bin/env python3
"""Holds the times of paritycheck bench against Triton's do_bench and ncu.

    scripts/agreement.py PARITYCHECK [-o TABLE.md] [--limit 0.02]
    scripts/agreement.py PARITYCHECK --graphs

On a machine with an NVIDIA GPU, PyTorch, Triton and ncu. paritycheck bench
times kernels and dumps their launches; this program makes the same
launches, with the same modules, geometry, arguments and contents, under
triton.testing.do_bench and under ncu (gpu__time_duration), and compares the
medians. All three overwrite the cache before each launch; ncu's own
--cache-control empties it instead, which leaves nothing to write back, and
is off. It exits with 1 where a pair differs by more than the limit.
"""

import argparse
import csv
import ctypes
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

# op, dtypes: kernels of every kind, bound by memory and by arithmetic.
PAIRS = [
    ("neg", "f32,bf16"),
    ("gelu_erf", "f32"),
    ("add", "f32,f16"),
    ("affine", "f32"),
    ("softmax", "f32,bf16"),
    ("rms_norm", "f32,f16"),
    ("rope", "f32"),
    ("fast_sum", "f32"),
    ("fast_argmax", "f16"),
    ("where", "u8_f32"),
    ("index_select", "u32_f32"),
]
SIZES = ["large", "huge"]


class Cuda:
    """The driver's functions that a launch needs, in torch's context."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.modules = {}

    def check(self, name, *args):
        r = getattr(self.lib, name)(*args)
        if r:
            raise RuntimeError(f"{name}: CUresult {r}")

    def function(self, path, symbol, shared):
        if path not in self.modules:
            with open(path, "rb") as f:
                image = f.read() + b"\0"
            handle = ctypes.c_void_p()
            self.check("cuModuleLoadData", ctypes.byref(handle), image)
            self.modules[path] = handle
        f = ctypes.c_void_p()
        self.check("cuModuleGetFunction", ctypes.byref(f), self.modules[path], symbol.encode())
        if shared > 48 << 10:
            self.check("cuFuncSetAttribute", f, 8, shared)
        return f


class Launch:
    """One entry of launches.json with its buffers."""

    def __init__(self, cuda, folder, entry):
        import torch

        self.cuda, self.entry, self.buffers = cuda, entry, []
        self.f = cuda.function(os.path.join(folder, entry["module"]), entry["kernel"], entry["shared"])
        values = []
        for a in entry["args"]:
            if a.get("null"):
                values.append(ctypes.c_uint64(0))
            elif "bytes" in a:
                b = torch.zeros(max(a["bytes"], 1), dtype=torch.uint8, device="cuda")
                if a.get("file"):
                    with open(os.path.join(folder, a["file"]), "rb") as f:
                        part = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8).cuda()
                    for at in range(0, a["bytes"], part.numel() or 1):
                        n = min(part.numel(), a["bytes"] - at)
                        b[at : at + n] = part[:n]
                self.buffers.append(b)
                values.append(ctypes.c_uint64(b.data_ptr() + a.get("offset", 0)))
            else:
                kind = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}[a["size"]]
                values.append(kind(a.get("value", 0)))
        self.values = values
        self.params = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])

    def __call__(self):
        import torch

        e = self.entry
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        r = self.cuda.lib.cuLaunchKernel(self.f, *e["grid"], *e["block"], e["shared"], self.stream, self.params, None)
        if r:
            raise RuntimeError(f"{e['case']}: cuLaunchKernel: CUresult {r}")


def entries_of(folders):
    for folder in folders:
        with open(os.path.join(folder, "launches.json")) as f:
            for entry in json.load(f):
                yield folder, entry


def launches(folders):
    import torch

    torch.zeros(1, device="cuda")  # makes the context
    cuda = Cuda()
    for folder, entry in entries_of(folders):
        yield entry, Launch(cuda, folder, entry)


def replay(folders, times):
    """What ncu profiles: each launch so many times, the cache overwritten
    before it as do_bench and bench do."""
    import torch

    cache = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
    for _, launch in launches(folders):
        for _ in range(times):
            cache.zero_()
            launch()
        torch.cuda.synchronize()


def do_bench(folders):
    import triton.testing

    return {e["case"]: triton.testing.do_bench(l, warmup=50, rep=300, return_mode="median") / 1e3 for e, l in launches(folders)}


def graphs(folders, launches_each=200, replays=50):
    """Seconds a launch when a CUDA graph of many replays, as PyTorch's do."""
    import torch

    times = {}
    for e, launch in launches(folders):
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            for _ in range(3):
                launch()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches_each):
                launch()
        samples = []
        for _ in range(replays):
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record()
            graph.replay()
            b.record()
            b.synchronize()
            samples.append(a.elapsed_time(b) / 1e3 / launches_each)
        times[e["case"]] = statistics.median(samples)
    return times


def ncu(folders, times):
    entries = [e for _, e in entries_of(folders)]
    cmd = ["ncu", "--clock-control", "none", "--cache-control", "none", "--metrics", "gpu__time_duration.sum", "--csv", "--print-units", "base",
           "-k", "regex:^(" + "|".join(sorted({e["kernel"] for e in entries})) + ")$",
           sys.executable, os.path.abspath(__file__), "--times", str(times), "--replay", *folders]
    out = subprocess.run(cmd, capture_output=True, text=True)
    if out.returncode:
        raise RuntimeError(f"ncu: {out.stdout[-2000:]}{out.stderr[-2000:]}")
    lines = out.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[head:]))))
    ns = [float(r["Metric Value"].replace(",", "")) for r in rows]
    if len(ns) != times * len(entries):
        raise RuntimeError(f"ncu gave {len(ns)} durations, want {times} for each of {len(entries)} launches")
    # The first launches warm up.
    return {e["case"]: statistics.median(ns[i * times + 2 : (i + 1) * times]) / 1e9 for i, e in enumerate(entries)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paritycheck", nargs="?")
    p.add_argument("-o", "--output", help="write the table to this file too")
    p.add_argument("--limit", type=float, default=0.02)
    p.add_argument("--times", type=int, default=12, help="launches under ncu of each kernel")
    p.add_argument("--sizes", default=",".join(SIZES))
    p.add_argument("--keep", help="write the runs of bench to this folder")
    p.add_argument("--graphs", action="store_true", help="compare batches of small launches with CUDA graphs in place of all that")
    p.add_argument("--replay", nargs="+", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.replay:
        return replay(args.replay, args.times)

    sizes = "small" if args.graphs else args.sizes
    with tempfile.TemporaryDirectory() as tmp:
        folders, results = [], {}
        for i, (op, dtypes) in enumerate(PAIRS):
            folder = os.path.join(tmp, str(i))
            run = os.path.join(args.keep or tmp, f"bench-{op}.json")
            subprocess.run([args.paritycheck, "bench", op, "--dtype", dtypes, "--size", sizes, "--target", "cuda@cuda:0",
                            "-q", "--dump", folder, "-o", run, "--noise", "0.2"], check=True, stdout=subprocess.DEVNULL)
            with open(run) as f:
                results.update({r["case"]: r for r in json.load(f)["results"] if r.get("timing")})
            folders.append(folder)
        if args.graphs:
            replayed = graphs(folders)
            print("| op | dtype | batch, µs | CUDA graph, µs | |\n|---|---|--:|--:|--:|")
            for c, r in results.items():
                ours = r["timing"]["batch_median_s"]
                print(f"| {r['op']} | {r['dtype']} | {ours*1e6:.2f} | {replayed[c]*1e6:.2f} | {ours/replayed[c]-1:+.1%} |")
            return
        triton, profiled = do_bench(folders), ncu(folders, args.times)
    rows = [(r["op"], r["dtype"], r["size"], r["timing"]["median_s"], triton[c], profiled[c]) for c, r in results.items()]

    lines = ["| op | dtype | size | bench, µs | do_bench, µs | | ncu, µs | |", "|---|---|---|--:|--:|--:|--:|--:|"]
    worst = 0
    for op, dtype, size, ours, triton, profiled in rows:
        a, b = ours / triton - 1, ours / profiled - 1
        worst = max(worst, abs(a), abs(b))
        lines.append(f"| {op} | {dtype} | {size} | {ours*1e6:.2f} | {triton*1e6:.2f} | {a:+.1%} | {profiled*1e6:.2f} | {b:+.1%} |")
    near = sum(abs(o / t - 1) <= args.limit and abs(o / n - 1) <= args.limit for *_, o, t, n in rows)
    lines.append("")
    lines.append(f"{near} of {len(rows)} within {args.limit:.0%} of both; the widest difference is {worst:.1%}")
    text = "\n".join(lines) + "\n"
    print(text)
    if args.output:
        with open(args.output, "w") as f:
            f.write(text)
    sys.exit(near < len(rows))


if __name__ == "__main__":
    main()
