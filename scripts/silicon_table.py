#!/usr/bin/env python3
"""Holds the bundled kernels against PyTorch and the copy bandwidth.

    scripts/silicon_table.py PARITYCHECK [-o TABLE.md] [--no-compile] [options of bench]

On a machine with an NVIDIA GPU and PyTorch. paritycheck bench times the CUDA
kernels and the HIP ones compiled for NVIDIA at the large size (2^26 elements,
rows of 4096); this program times what PyTorch has for the same, eager and by
torch.compile, in the same way: the cache is overwritten before each launch,
and the median of the samples counts. The table has a row for each op and
dtype, in GB/s of the bytes that a perfect kernel moves, whoever moves them,
and the CUDA kernel's share of the copy bandwidth of the same run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

ROWS, COLS = 1 << 14, 4096
N = ROWS * COLS
DTYPES = ["f32", "f16", "bf16"]


def torch_dtype(name):
    import torch
    return {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
            "u8": torch.uint8, "u32": torch.int32}[name]


def functions():
    """What PyTorch has for an op: of tensors x and y of rows, and others."""
    import torch
    import torch.nn.functional as F
    one = {
        "copy": torch.clone, "neg": torch.neg, "recip": torch.reciprocal, "exp": torch.exp, "log": torch.log,
        "sin": torch.sin, "cos": torch.cos, "tanh": torch.tanh, "erf": torch.erf, "ceil": torch.ceil,
        "floor": torch.floor, "round": torch.round, "normcdf": torch.special.ndtr, "abs": torch.abs,
        "sqr": torch.square, "sqrt": torch.sqrt, "gelu": lambda x: F.gelu(x, approximate="tanh"),
        "gelu_erf": F.gelu, "relu": F.relu, "silu": F.silu, "sign": torch.sign, "sigmoid": torch.sigmoid,
        "elu": F.elu, "powf": lambda x: torch.pow(x, 2.5), "affine": lambda x: x * 1.5 + 0.25,
        "softmax": lambda x: torch.softmax(x, -1), "fast_sum": lambda x: x.sum(-1), "sum": lambda x: x.sum(-1),
        "fast_max": lambda x: x.amax(-1), "fast_min": lambda x: x.amin(-1),
        "fast_argmax": lambda x: x.argmax(-1), "fast_argmin": lambda x: x.argmin(-1),
        "fill": lambda x: x.fill_(1.5), "const_set": lambda x: x.fill_(1.5),
    }
    two = {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
        "minimum": torch.minimum, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le,
        "gt": torch.gt, "ge": torch.ge,
    }
    return one, two


def call(op, dtype):
    """What does op with PyTorch, and its arguments; or None."""
    import torch
    import torch.nn.functional as F
    g = torch.Generator("cuda").manual_seed(1)
    t = torch_dtype(dtype)

    def rand(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float32, generator=g).to(t)

    def below(n, *shape):
        return torch.randint(0, n, shape, device="cuda", generator=g)

    one, two = functions()
    x = rand(ROWS, COLS)
    if op in one:
        return one[op], (x,)
    if op in two:
        return two[op], (x, rand(ROWS, COLS))
    if op == "rms_norm":
        return (lambda x, a: F.rms_norm(x, (COLS,), a, 1e-5)), (x, rand(COLS))
    if op == "layer_norm":
        return (lambda x, a, b: F.layer_norm(x, (COLS,), a, b, 1e-5)), (x, rand(COLS), rand(COLS))
    if op.startswith("cast_"):
        to = torch_dtype(op[5:])
        return (lambda x: x.to(to, copy=True)), ((x.abs() if op == "cast_u8" else x),)
    if op == "where":
        return torch.where, (below(2, ROWS, COLS).bool(), x, rand(ROWS, COLS))
    if op == "copy2d":
        out = torch.empty(ROWS, 2 * COLS, device="cuda", dtype=t)
        return (lambda x, o: o[:, :COLS].copy_(x)), (x, out)
    d, h = 128, COLS // 128
    if op in ("rope_i", "rope", "rope_thd"):
        shape = (1, ROWS, h, d) if op == "rope_thd" else (1, h, ROWS, d)
        table = (ROWS, 1, d // 2) if op == "rope_thd" else (ROWS, d // 2)
        if op == "rope_i":
            def f(x, c, s):
                a, b = x[..., 0::2], x[..., 1::2]
                return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)
        else:
            def f(x, c, s):
                a, b = x[..., :d // 2], x[..., d // 2:]
                return torch.cat((a * c - b * s, a * s + b * c), -1)
        return f, (x.view(shape), rand(*table), rand(*table))
    if op == "index_select":
        return (lambda x, i: torch.index_select(x, 0, i)), (x, below(ROWS, ROWS))
    if op == "gather":
        return (lambda x, i: torch.gather(x, 0, i)), (x, below(ROWS, ROWS, COLS))
    if op == "scatter":
        return (lambda x, i, o: o.scatter_(0, i, x)), (x, below(ROWS, ROWS, COLS), rand(ROWS, COLS))
    if op == "scatter_add":
        return (lambda x, i, o: o.scatter_add_(0, i, x)), (x, below(ROWS, ROWS, COLS), rand(ROWS, COLS))
    if op == "index_add":
        return (lambda x, i, o: o.index_add_(0, i, x)), (x, below(ROWS, ROWS), rand(ROWS, COLS))
    if op == "upsample_nearest2d":
        return (lambda x: F.interpolate(x, scale_factor=2.0, mode="nearest")), (x.view(-1)[:N // 4].view(ROWS // 64, -1, 64, 64),)
    return None


def median(f, samples=25):
    """Seconds of f, the cache overwritten before each."""
    import torch
    junk = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
    for _ in range(3):
        f()
    events = []
    for _ in range(samples):
        junk.fill_(7)
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        f()
        b.record()
        events.append((a, b))
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in events) * 1e-3


def compile_into_cache(job):
    """Compiles in a process of its own; the one that measures finds the code
    in inductor's cache."""
    op, dtype = job
    import torch
    torch._inductor.config.compile_threads = 1
    c = call(op, dtype)
    if c:
        f, args = c
        torch.compile(f, dynamic=False)(*args)
        torch.cuda.synchronize()


# The families with the variants that are compared: the integers that choose
# or address are those that candle uses most.
FAMILIES = [
    (["unary", "binary", "affine", "fill", "softmax", "norm", "rope", "reduce", "upsample"], DTYPES),
    (["indexing"], ["u32_" + t for t in DTYPES]),
    (["ternary"], ["u8_" + t for t in DTYPES]),
    (["cast"], [s + "_" + t for s in DTYPES for t in DTYPES + ["u8"]]),
]


def bench(paritycheck, targets, options):
    """Seconds and bytes by target, op and variant, and the copy bandwidth."""
    times, copy = {}, 0
    for families, dtypes in FAMILIES:
        command = [paritycheck, "bench", "--size", "large", "--format", "json", "--no-batch", "-q",
                   "--family", ",".join(families), "--dtype", ",".join(dtypes)] + options
        for t in targets:
            command += ["--target", t]
        done = subprocess.run(command, stdout=subprocess.PIPE)
        if not done.stdout:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
        run = json.loads(done.stdout)
        for t in run["env"]["targets"]:
            if t.get("copy"):
                c = t["copy"]
                copy = max(copy, *(c["bytes"] / c[k] for k in c if k.endswith("_s") and c[k]))
        for r in run["results"]:
            if r.get("timing"):
                times[r["target"], r["op"], r["dtype"]] = r["timing"]["median_s"], r["bytes"]
            else:
                print(f"{r['target']} {r['op']} {r['dtype']}: {r.get('skipped') or r.get('fault') or r['status']}", file=sys.stderr)
    return times, copy


def pytorch(op, variant):
    """The op and dtype that call takes for an op's variant."""
    first, _, second = variant.partition("_")
    if op == "cast":
        return "cast_" + second, first
    return op, second or first


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("paritycheck")
    p.add_argument("-o", default="")
    p.add_argument("--no-compile", action="store_true", help="leave out torch.compile, which takes minutes")
    p.add_argument("--limit", type=float, default=0.90, help="share of the copy below which a row is marked")
    a, options = p.parse_known_args()
    ours = ["cuda@cuda:0", "hip@cuda:0"]
    times, copy = bench(a.paritycheck, ours, options)
    pairs = sorted({k[1:] for k in times}, key=lambda k: list(times).index((ours[0],) + k) if (ours[0],) + k in times else 0)

    import torch
    if not a.no_compile:
        jobs = sorted({pytorch(*k) for k in pairs})
        with ProcessPoolExecutor(max(2, min(14, (os.cpu_count() or 4) - 2)), mp_context=get_context("spawn")) as pool:
            for job, f in [(j, pool.submit(compile_into_cache, j)) for j in jobs]:
                if f.exception():
                    print(f"torch.compile of {job}: {f.exception()}"[:200], file=sys.stderr)
    rows, below, slower = [], 0, 0
    for op, variant in pairs:
        def rate(s):
            return s and times[ours[0], op, variant][1] / s / 1e9
        if (ours[0], op, variant) not in times:
            continue
        cuda, bytes_ = times[ours[0], op, variant]
        hip = times.get((ours[1], op, variant), (None,))[0]
        eager = compiled = None
        c = call(*pytorch(op, variant))
        if c:
            f, args = c
            with torch.no_grad():
                try:
                    eager = median(lambda: f(*args))
                    if not a.no_compile:
                        torch._dynamo.reset()
                        g = torch.compile(f, dynamic=False)
                        compiled = median(lambda: g(*args))
                except Exception as e:  # an op or dtype that PyTorch lacks
                    print(f"PyTorch's {op} of {variant}: {e}"[:200], file=sys.stderr)
        share = bytes_ / cuda / copy
        best = min((s for s in (eager, compiled) if s), default=None)
        below += share < a.limit
        slower += bool(best) and cuda > 1.02 * best
        rows.append([op, variant] + [f"{rate(s):.0f}" if s else "" for s in (cuda, hip, eager, compiled)] +
                    [f"{share:.2f}", f"{cuda / hip:.2f}" if hip else "", f"{best / cuda:.2f}" if best else ""])
    head = ["op", "dtype", "cuda", "hip on NVIDIA", "PyTorch", "torch.compile", "of the copy", "hip over cuda", "over the better PyTorch"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * 2 + "---:|" * (len(head) - 2)]
    lines += ["| " + " | ".join(r) + " |" for r in rows]
    text = (f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {copy / 1e9:.0f} GB/s. "
            f"{len(rows)} kernels in GB/s: {below} below {a.limit:.2f} of the copy, {slower} more than 2 % behind PyTorch.\n\n" + "\n".join(lines) + "\n")
    print(text)
    if a.o:
        with open(a.o, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
