"""Formats that are in variables: under jit and vmap the text is Python's, or refused."""

from __future__ import annotations

import pytest

import overt
import overt.numpy as np

PERCENT, PERCENT_S, PERCENT_R, BRACES, BRACES_R = "%.2f", "%s", "%r", "{}", "{!r:>9}"


def by_percent(x):
    return PERCENT % x


def by_percent_s(x):
    return PERCENT_S % (x * 2.0)


def in_a_list(x):
    return PERCENT_R % [x]


def in_a_dictionary(x):
    return PERCENT_S % {"a": (x,)}


def by_format(x):
    return BRACES.format(x)


def by_format_r(x):
    return BRACES_R.format(x)


def by_a_bound_method(x):
    text = BRACES.format
    return text(x + 1.0)


def joined(x):
    return ",".join(map(str, [x, x * 2.0]))


FUNCTIONS = [
    by_percent, by_percent_s, in_a_list, in_a_dictionary, by_format, by_format_r,
    by_a_bound_method, joined,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
def test_texts_are_python_s_or_refused(f, capsys):
    def shown(x):
        print(f(x))
        return x * x

    def lines(call):
        capsys.readouterr()
        try:
            call()
        except (TypeError, NotImplementedError, ValueError, overt.errors.StagingError):
            return None
        overt.effects_barrier()
        return capsys.readouterr().out.splitlines()

    x = 1.25
    expected = [f(x)]
    assert lines(lambda: overt.jit(shown)(x)) in (None, expected)
    assert lines(lambda: overt.jit(overt.grad(shown))(x)) in (None, expected)
    assert lines(lambda: overt.vmap(shown)(np.array([x, x]))) in (None, expected * 2)


def test_values_that_a_program_knows_have_texts():
    known = np.array([1.5, 2.5])
    texts = []

    def f(x):
        texts.append(PERCENT_S % known)
        return x * 2.0

    overt.jit(f)(1.0)
    assert texts == ["[1.5 2.5]"]
