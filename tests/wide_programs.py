"""Random programs of a wider grammar: lists, dictionaries, nested functions, helpers, exits."""

from __future__ import annotations

from tests.programs import SCALARS, Writer

HELPER = """\
def helper(x, y=0.5, *, scale=1.0, steps=2):
    for step in range(steps):
        if x > 1.7:
            return x - scale * y
        x = 0.6 * x + scale * np.sin(y)
    return x * y


"""
KEYS = ('"p"', '"q"')
PLACES = ("0", "1", "2", "-1")


class WideWriter(Writer):
    """Writes one random function that has a list, a dictionary and a nested function as well."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.over_xs = 0  # loops over xs around this place, and over d
        self.over_d = 0
        self.functions = 0

    def text(self) -> str:
        head = [
            "def program(a, b, v):",
            "    c = a * b",
            '    d = {"p": a + 0.3, "q": 0.5 * b}',
            "    xs = [a, 0.7 * b, v[1]]",
            "    k = 0.4 * a - b",
            "",
            "    def inner(x, weight=0.3):",
            f"        {self.choose('y = x * k', 'y = x - v0 * weight', 'y = np.sin(x) * weight')}",
            f"        if y {self.choose('<', '>')} 0.21:",
            "            return y * weight + k",
            "        return y",
            "",
        ]
        head.insert(5, "    v0 = 0.9 * v[0]")
        body = self.block(1, False) + self.block(1, False)
        end = f'    return {self.expression(2)} + np.sum(v * v) + sum(xs) * d["p"] + d["q"]'
        return HELPER + "\n".join([*head, *body, end]) + "\n"

    # --- expressions

    def atom(self) -> str:
        if self.random.random() < 0.55:
            return super().atom()
        return self.choose('d["p"]', 'd["q"]', "xs[0]", "xs[1]", "xs[-1]", "k")

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.75:
            text = super().expression(depth)
            # a 0-d array of NumPy's would be shared by two names and changed by `+=`
            return f"1.0 * {text}" if text.startswith("np.where") else text
        x, y = self.expression(depth - 1), self.atom()
        return self.choose(
            f"helper({x})",
            f"helper({x}, {y})",
            f"helper({x}, scale={y})",
            f"helper(x={x}, steps=1, y={y})",
            f"inner({x})",
            f"inner({x}, weight={y})",
            f"({x} if {self.test()} else {y})",
            f"0.3 * max({x}, {y} + 0.0137)",
            f"min({x} - 0.0119, {y})",
            f"abs({x} + 0.0171)",
            f"(lambda u, w={y}: u * w + 0.1)({x})",
            "0.2 * sum(xs)",
            f"sum([u * 0.3 for u in xs if u < {y} + 0.0123])",
            "sum(u * w for u, w in zip(xs, v))",
            f"0.5 * sum({{key: value * {y} for key, value in d.items()}}.values())",
        )

    def vector(self) -> str:
        if self.random.random() < 0.5:
            return super().vector()
        x = self.atom()
        apart = "v * np.array([1.0, 1.1, 0.9]) + np.array([0.0, 0.013, 0.027])"
        return self.choose(
            f"np.where(v > 0.11, v * {x}, np.sin(v))",
            f"np.sort({apart})",
            f"v[np.argsort({apart})] * {x}",
            "np.array([0.9 * u for u in xs])",
            f"np.concatenate([v[1:], np.stack([{x}])])",
            "np.cumsum(v) * 0.4",
        )

    # --- statements

    def statement(self, depth: int, looping: bool) -> list[str]:
        if self.random.random() < 0.5:
            return super().statement(depth, looping)
        self.budget -= 1
        pad = "    " * depth
        lines = self.choose(
            self.numbers, self.items_of_list, self.items_of_dictionary, self.vectors, self.nested
        )
        return [pad + line for line in lines(depth)]

    def numbers(self, depth: int) -> list[str]:
        a, b = self.random.sample(SCALARS, 2)
        x, y = self.expression(1), self.expression(1)
        return self.choose(
            [f"({a}, {b}), *others = ({x}, {y}), 0.3, {self.atom()}", f"{a} += others[-1]"],
            [f"{a} = {b} = {x}"],
            [f"if (t := {x}) > 0.17:", f"    {a} = t * 0.8"],
            [f"{a}, {b} = {b}, {a}"],
            [f"{a} *= 0.5 * {x}"],
            [f"{a} = {x} if {self.test()} else {y} if {self.test()} else {b}"],
            [f"if -0.9 < {a} < {b} < 1.1:", f"    {a} -= {y}"],
        )

    def items_of_list(self, depth: int) -> list[str]:
        a, i, x, y = self.choose(*SCALARS), self.choose(*PLACES), self.expression(1), self.atom()
        if self.over_xs:
            return [f"{a} = 0.5 * xs[{i}] + {x}"]
        return self.choose(
            [f"xs[{i}] = {x}"],
            [f"xs[{i}] += {x}"],
            [f"xs[1:] = [{x}, {y}]"],
            ["xs[:2] = xs[1:]"],
            [f"xs[0], xs[2] = xs[2], {x}"],
            [f"xs.append({x})", f"{a} = xs.pop(0)"],
            [f"xs.insert(1, {x})", f"{a} = 0.4 * xs.pop()"],
            ["xs.reverse()"],
            ["xs = xs[::-1]"],
            ["xs = sorted([u * (1.0 + 0.1 * n) + 0.013 * n for n, u in enumerate(xs)])"],
            [f"xs = [0.5 * u + {y} for u in xs]"],
            ["xs.sort(key=lambda u: u * u + 0.1 * u)"],
            ["first, *rest = xs", f"xs = [*rest, first * {y}]"],
            [f"del xs[{i}]", f"xs += [{x}]"],
        )

    def items_of_dictionary(self, depth: int) -> list[str]:
        a, key, x = self.choose(*SCALARS), self.choose(*KEYS), self.expression(1)
        if self.over_d:
            return [f"{a} = 0.5 * d[{key}] + {x}"]
        return self.choose(
            [f"d[{key}] = {x}"],
            [f"d[{key}] *= {x}"],
            [f"d.update(p={x})"],
            [f"d = {{**d, {key}: {x}}}"],
            [f"d |= {{{key}: {x}}}"],
            [f"{a} = d.pop({key})", f"d[{key}] = 0.5 * {a}"],
            [f'd["q"] = {x}', f'{a} += d["q"]'],
            [f'{a} = d.get("z", {x}) + d.get({key})'],
            [f'{a} += 0.4 * d.setdefault("q", 3.0)'],
        )

    def vectors(self, depth: int) -> list[str]:
        i, x, y = self.choose("0", "1", "2"), self.expression(1), self.atom()
        if self.over_v:
            return [f"{self.choose(*SCALARS)} += {x}"]
        return self.choose(
            [f"v[v > {self.choose('0.23', '-0.31')}] = {x}"],
            [f"v[v < 0.19] *= {x}"],
            [f"v[::2] = {x}"],
            ["v[1:] = v[:2] * 0.7"],
            [f"v[:2] += {y}"],
            [f"v[{i}], v[0] = {y}, {x}"],
            [f"v *= {y}"],
            [f"v[[0, 2]] = v[[2, 0]] * {y}"],
            [f"v = {self.vector()}"],
        )

    def nested(self, depth: int) -> list[str]:
        self.functions += 1
        f, a = f"nested{self.functions}", self.choose(*SCALARS)
        x, y = self.choose("k", "v0", "0.7"), self.expression(1)
        return self.choose(
            [
                f"def {f}(u, w=0.2):",
                "    turns = 0",
                f"    while u > {x}:",
                "        turns += 1",
                "        u = 0.5 * u - 0.3 + w * np.sin(u)",
                "        if u < -0.4 or turns > 3:",
                "            break",
                "    return u",
                f"{a} = {f}({y}) + {f}({a}, w={x})",
            ],
            [f"{f} = lambda u: u * {x} + np.cos(u)", f"{a} = {f}({f}({y}))"],
            [
                f"total{self.functions} = {y}",
                f"def {f}(u):",
                f"    nonlocal total{self.functions}",
                f"    total{self.functions} += u * {x}",
                f"{f}({a})",
                f"{a} = total{self.functions}",
            ],
        )

    # --- loops

    def loop(self, depth: int) -> list[str]:
        if self.random.random() < 0.4:
            return super().loop(depth)
        self.loops += 1
        pad, n = "    " * depth, f"n{self.loops}"
        a, x = self.choose(*SCALARS), self.expression(1)
        kind = self.choose("list", "items", "true", "else", "enumerate", "zip")
        if kind == "list":
            head, first = f"for u{n} in xs:", f"{a} = 0.6 * {a} + u{n} * 0.3"
        elif kind == "items":
            head, first = f"for key{n}, u{n} in d.items():", f"{a} += 0.3 * u{n}"
        elif kind == "enumerate":
            head, first = f"for {n}, u{n} in enumerate(xs):", f"{a} = 0.6 * {a} + u{n} * {n}"
        elif kind == "zip":
            head, first = f"for u{n}, w{n} in zip(xs, v):", f"{a} = 0.6 * {a} + u{n} * w{n}"
        elif kind == "else":
            head, first = f"for {n} in range(3):", f"{a} = 0.7 * {a} + 0.1 * {n}"
        else:
            head, first = "while True:", f"{n} += 1"
        self.over_xs += "xs" in head
        self.over_v += "v)" in head
        self.over_d += "d." in head
        body = [f"{pad}    {first}", *self.block(depth + 1, True)]
        self.over_xs -= "xs" in head
        self.over_v -= "v)" in head
        self.over_d -= "d." in head
        if kind == "true":
            leave = self.choose("break", f"return {x} + np.sum(v)")
            body[1:1] = [f"{pad}    if {n} > 3 or {self.test()}:", f"{pad}        {leave}"]
            return [f"{pad}{n} = 0", pad + head, *body]
        if kind == "else":
            leave = [f"{pad}    if {self.test()}:", f"{pad}        break"]
            return [pad + head, *body, *leave, f"{pad}else:", f"{pad}    {a} = {x}"]
        return [pad + head, *body]
