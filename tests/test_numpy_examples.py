"""Examples in the docstrings of primitives and composites, which doctest does not look at."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import overt.runtime.numpy
import overt.runtime.scipy
from overt.runtime.primitive import Composite, Primitive

PACKAGES = (overt.runtime.numpy, overt.runtime.scipy)
MODULES = [
    f"{package.__name__}.{found.name}"
    for package in PACKAGES
    for found in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    namespace = vars(importlib.import_module(module))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for name, function in list(namespace.items()):
        foreign = isinstance(function, Composite) and function.__module__ != module
        if foreign or not isinstance(function, (Composite, Primitive)):
            continue
        examples = doctest.DocTestParser().get_doctest(
            function.__doc__ or "", dict(namespace), f"{module}.{name}", None, 0
        )
        runner.run(examples)
    assert not runner.failures, f"{runner.failures} of {runner.tries} examples failed"
