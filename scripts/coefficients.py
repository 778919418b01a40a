#!/usr/bin/env python3
"""Finds the coefficients of the polynomials in kernels/common/quick.h.

    scripts/coefficients.py [NAME ...]

Needs mpmath. For each polynomial it prints the coefficients, which are floats,
and the largest error that they leave, relative to the function, as a power of
two: of exact arithmetic, so that what the kernels round comes on top. The fit is
the minimax one on a grid (Remez's exchange). Where a fit is marked so, each
coefficient is rounded before the next ones are fitted; of the others, which are
polynomials around a point inside of the range, all are rounded at the end.
"""

import sys

import mpmath as mp

mp.mp.dps = 40


def f32(x):
    """x rounded to a float."""
    if x == 0:
        return mp.mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, 24)), e - 24)


def minimax(target, basis, weight, lo, hi, grid):
    """The coefficients of basis for which weight*(sum - target) is least."""
    n = len(basis)
    xs = [lo + (hi - lo) * (1 - mp.cos(mp.pi * k / (grid - 1))) / 2 for k in range(grid)]
    t, w = [target(x) for x in xs], [weight(x) for x in xs]
    b = [[f(x) for f in basis] for x in xs]
    at = [round(k * (grid - 1) / n) for k in range(n + 1)]
    for _ in range(30):
        a, r = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for i, k in enumerate(at):
            for j in range(n):
                a[i, j] = b[k][j]
            a[i, n] = (-1) ** i / w[k]
            r[i] = t[k]
        solution = mp.lu_solve(a, r)
        c = [solution[j] for j in range(n)]
        err = [w[k] * (sum(c[j] * b[k][j] for j in range(n)) - t[k]) for k in range(grid)]
        peaks = []  # of alternating sign
        for k in range(grid):
            if not peaks or (err[k] > 0) != (err[peaks[-1]] > 0):
                peaks.append(k)
            elif abs(err[k]) > abs(err[peaks[-1]]):
                peaks[-1] = k
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(err[peaks[0]]) < abs(err[peaks[-1]]) else -1)
        if len(peaks) < n + 1 or peaks == at:
            break
        at = peaks
    return c


def fit(target, n, weight, lo, hi, variable=lambda x: x, one_by_one=True, grid=600):
    """n coefficients of powers of variable, and the error that they leave."""
    basis = [lambda x, k=k: variable(x) ** k for k in range(n)]
    lo, hi, fixed = mp.mpf(lo), mp.mpf(hi), []
    if one_by_one:
        for k in range(n):
            rest = minimax(lambda x: target(x) - sum(v * f(x) for v, f in zip(fixed, basis)), basis[k:], weight, lo, hi, grid)
            fixed.append(f32(rest[0]))
    else:
        fixed = [f32(v) for v in minimax(target, basis, weight, lo, hi, grid)]
    xs = [lo + (hi - lo) * k / mp.mpf(1500) for k in range(1501)]
    return fixed, max(abs(weight(x) * (sum(v * f(x) for v, f in zip(fixed, basis)) - target(x))) for x in xs)


def normcdf(c):
    """normcdf(-a) e^(a^2/2) / u of u = 1/(1 + c a)."""
    def f(u):
        a = (1 / u - 1) / mp.mpf(c)
        return mp.erfc(a / mp.sqrt(2)) / 2 * mp.exp(a * a / 2) / u
    return f


def fit_normcdf(c, n):
    f = normcdf(c)
    return fit(f, n, lambda u: 1 / f(u), 1 / (1 + mp.mpf("14.4") * mp.mpf(c)), 1, grid=300)


LOG2 = 2 / mp.log(2)  # s is LOG2 (p-1)/(p+1), p up to sqrt(2)


def log2_tail(v):
    """(log2(p) - s) / s^3 of v = s^2."""
    s = mp.sqrt(v)
    return (LOG2 * mp.atanh(s / LOG2) - s) / (s * v)


def power():
    most = LOG2 * (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0001")
    return fit(log2_tail, 3, lambda v: v, 1e-6, most ** 2)


# The constant of a half's s has 12 bits, so that its product is exact.
SHORT = mp.ldexp(mp.nint(mp.ldexp(LOG2, 10)), -10)


def power_half():
    c, err = power()
    return [f32(v * (LOG2 / SHORT) ** (2 * k + 3)) for k, v in enumerate(c)], err


def log():
    def f(x):  # (log(1+x) - x) / x^2
        return (mp.log1p(x) - x) / x ** 2 if abs(x) > 1e-9 else mp.mpf(-1) / 2
    return fit(f, 7, lambda x: abs(x * x / mp.log1p(x)) if x else mp.mpf(10) ** -30, -0.25, 0.33, one_by_one=False, grid=601)


def sin():
    def f(x):  # (sin(x) - x) / x^3
        return (mp.sin(x) - x) / x ** 3 if x > 0.001 else mp.mpf(-1) / 6
    return fit(f, 4, lambda x: x ** 3 / mp.sin(x), 0.01, mp.pi / 2 * 1.001, variable=lambda x: x * x)


def erf():
    def f(t):  # erf(x) / x of t = x^2
        x = mp.sqrt(t)
        return mp.erf(x) / x if x else 2 / mp.sqrt(mp.pi)
    return fit(f, 11, lambda t: 1 / f(t), 0, mp.mpf(2.6) ** 2, variable=lambda t: t - mp.mpf("3.4"), one_by_one=False)


def tanh():
    def f(x):  # (tanh(x) - x) / x^3
        return (mp.tanh(x) - x) / x ** 3 if x > 0.001 else mp.mpf(-1) / 3
    return fit(f, 4, lambda x: x ** 3 / mp.tanh(x), 0.01, 0.55, variable=lambda x: x * x)


POLYNOMIALS = {
    "quick_normcdf": lambda: fit_normcdf("0.5", 11),
    "Power of f32": power,
    "Power of halves": power_half,
    "for_half::log": log,
    "for_half::sin": sin,
    "for_half::erf": erf,
    "for_half::tanh": tanh,
    "for_half::normcdf": lambda: fit_normcdf("0.35", 9),
}


def main():
    if any(a.startswith("-") for a in sys.argv[1:]):
        print(__doc__.strip())
        return
    for name in sys.argv[1:] or POLYNOMIALS:
        if name not in POLYNOMIALS:
            sys.exit(f"no polynomial {name!r}; there are {', '.join(POLYNOMIALS)}")
        c, err = POLYNOMIALS[name]()
        print(f"{name}: 2^{float(mp.log(err, 2)):.1f}")
        print("  " + ", ".join(f"{float(v)!r}f" for v in c), flush=True)


if __name__ == "__main__":
    main()
