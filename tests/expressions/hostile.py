"""Inputs that must be refused, quickly and with a place. The names x, y (numbers) and ok (a condition) are known."""

from __future__ import annotations

import re


def _inputs(text: str) -> list[str]:
    """Inputs apart by three spaces or a line break."""
    return re.split(" {3}|\n", text.strip())


CODE = _inputs("""
__import__('os').system('true')   __import__("os")   __builtins__   __class__   x.__class__
().__class__.__bases__[0]   (1).real   x.real   1 .real   1..real   1.0.real   x . y   lambda: 1   lambda x: x
(lambda x: x)(1)   x := 1   (x := 1)   x = 1   x == 1 = y   x += 1   del x   import os   from os import x
print(x)   eval('1')   eval(x)   exec(x)   open(x)   globals()   locals()   getattr(x, y)   vars()   dir(x)
type(x)   compile(x, y, x)   input()   help   exit()   breakpoint()   [1, 2, 3]   [x for x in y]   x[0]   x[y]
{1: 2}   {x}   {}   ()   (1, 2)   1, 2   x,   ,x   *x   **x   max(*x)   max(**x)   max(a=1, b=2)   f'{x}'
'text'   "text"   '''x'''   b'x'   `x`   x; y   x: y   x -> y   @x   #x   x # comment   $x   ${x}   %(x)s   x?
x ? y : 1   \\x   x\\y   ~x   x ~ y   x @ y   x & y   x | y   x ^ y   x << 2   x >> 2   x && y   x || y   !ok
!x   x === y   x <> y   x =< y   x => y   x != = y   x = = y   x is y   x in y   x not in y   not   and   or
ok and   and ok   ok or or ok   ok and and ok   if x: y   x if ok else y   if(ok, x, y)   for x in y   while x
return x   yield x   await x   async x   None   True   False   true   false   null   nan   inf   -inf   .inf
.nan   1e999   -1e999   1e308 * 10   1e308 + 1e308
""")

SHAPE = _inputs("""
(   )   ((   ))   )(   (x   x)   ((x)   (x))   (x))(   x(   x(y   max(x, y   max(x y)   max(x,, y)   max(, x)
max(x, )   max(x, y,)   max()   max(x)   min()   sin()   sin(x, y)   sin x   sin   atan2(x)   atan2(x, y, x)
clip(x)   clip(x, 1)   clip(x, 1, 2, 3)   clip(1, 2, 1)   wrap(1, 2, 2)   wrap(x, 0)   where()   where(x, 1, 2)
where(ok, 1)   where(ok, 1, ok)   where(ok, ok, 1)   next()   next(x)   next(1)   next(next(x))   next   x y
1 2   2x   2 x   2(x)   (x)(y)   x(y)   pi(2)   e(x)   +   -   *   /   //   %   **   x +   x -   x *   * x   / x
x * / y   x ** ** y   x ** * y   x */ y   x +* y   <   x <   < x   x < < y   x <   == x   x < y   x < y < 1   ok
not ok   ok + 1   -ok   ok * ok   ok < 1   ok == ok   sin(ok)   max(ok, x)   not x   x and y   x or ok   1 and 1
z   sinn(x)   xx   X   x1   _   sqroot(x)   ln(x)   pow(x, y)   mod(x, y)   arctan2(x, y)   x__y   __x__   _ _
1_   _1   1__0   1e   1e+   1e-   1e5e5   1.2.3   ..   .   . 5   0x1F   0b101   0o17   1j   1L   1f   5e-
1,000   1'000
""")

NUMBERS = _inputs("""
1/0   1//0   1%0   1.0/0   1/0.0   1 % 0.0   1/(1 - 1)   0**-1   0.0**-0.5   (-1)**0.5   (-8)**(1/3)   sqrt(-1)
log(0)   log(-1)   asin(2)   acos(-1.5)   exp(1000)   exp(exp(10))   10**10**10   10**400   2**1024
2**-(-1024)   9**9**9   9**9**9**9**9   (10**300)**10   10**300 * 10**300   10**308 * 10   1e200**2
(2**1000)*(2**1000)   -(10**308) * 100   1.0**0.5**-10000 / 0
""")

LOOKALIKES = [
    "ｘ",  # full width
    "х",  # Cyrillic
    "χ",
    "x²",
    "x³",
    "√x",
    "π",
    "2π",
    "x × y",
    "x ÷ y",
    "x − y",
    "x – y",
    "x · y",
    "x ≤ y",
    "x ≥ y",
    "x ≠ y",
    "∞",
    "½",
    "١",
    "1٢",
    "１",
    "xé",
    "é",
    "ﬁ",
    "x\u00a0+ y",
    "x\u200b",
    "\u200bx",
    "x\u2028y",
    "\ufeffx",
    "\x00",
    "x\x00",
    "x\x07y",
    "x\x1b[0m",
    "\ud800",
    "😀",
    "x 😀 y",
    "“x”",
    "‘x’",
    "（x）",
    "x；y",
    "x，y",
]

SIZE = [
    "",
    " ",
    "\n\t ",
    "x" * 1_999 + " ",
    "x" * 2_001,
    " " * 2_001,
    "1" * 1_999,
    "9" * 310,
    "1+" * 2_000,
    "(" * 1_999,
    ")" * 1_999,
    "(" * 51 + "x" + ")" * 51,
    "(" * 900 + "x" + ")" * 900,
    "-" * 51 + "x",
    "-" * 1_999,
    "-" * 1_998 + "x",
    "+-" * 900 + "x",
    "not " * 51 + "ok",
    "not " * 400 + "ok",
    "2**" * 51 + "2",
    "2**" * 600 + "2",
    "x**" * 600 + "x",
    "abs(" * 51 + "x" + ")" * 51,
    "abs(" * 400,
    "sin(" * 300 + "x" + ")" * 300,
    "(x+" * 300 + "x" + ")" * 300,
    "(1*x+1<x and ok or ok)+" * 40 + "1",
    "max(" + "x," * 900,
    "1" + "/0" * 900,
    "x<" * 900,
    "e" * 500 + "(" * 500,
    "1e" + "9" * 1_000,
    "1." + "0" * 1_000 + "x",
    "0" * 1_000 + "x",
    "_" * 1_000,
    "1_" * 900,
    "." * 1_000,
    "," * 1_000,
    "9**" * 40 + "9",
    "*".join(["9**99"] * 200),
]

HOSTILE = CODE + SHAPE + NUMBERS + LOOKALIKES + SIZE
