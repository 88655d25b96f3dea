"""Trees: flattening, structures, errors, registered types."""

import collections
import dataclasses
import doctest
import functools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overt.runtime import tree, tree_registry, treedef

Point = collections.namedtuple("Point", "x y")

trees = st.recursive(
    st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("module", [tree, tree_registry, treedef])
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


@given(trees)
def test_round_trip_keeps_everything(value):
    leaves, definition = tree.tree_flatten(value)
    assert repr(definition.unflatten(leaves)) == repr(value)
    assert definition == tree.tree_structure(value)
    assert hash(definition) == hash(tree.tree_structure(value))
    assert pickle.loads(pickle.dumps(definition)) == definition
    assert definition.num_leaves == len(leaves)


@settings(deadline=None)
@given(trees)
def test_same_leaves_and_structure_text_as_jax(value):
    jax = pytest.importorskip("jax")
    assert tree.tree_leaves(value) == jax.tree_util.tree_leaves(value)
    ours = [(tree.keystr(path), leaf) for path, leaf in tree.tree_leaves_with_path(value)]
    theirs = jax.tree_util.tree_flatten_with_path(value)[0]
    assert ours == [(jax.tree_util.keystr(path), leaf) for path, leaf in theirs]


def test_dict_order_is_the_callers_but_structures_are_equal():
    one, two = {"b": 1, "a": 2}, {"a": 2, "b": 1}
    assert list(tree.tree_map(abs, one)) == ["b", "a"]
    assert tree.tree_structure(one) == tree.tree_structure(two)
    assert tree.flatten_strict(one)[1] != tree.flatten_strict(two)[1]
    assert tree.tree_map(lambda x, y: x - y, one, two) == {"b": 0, "a": 0}


def test_keys_without_an_order():
    mixed = {"a": 1, 3: 2}
    assert tree.tree_map(lambda x: -x, mixed) == {"a": -1, 3: -2}


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        ({"x": [1, 2]}, {"x": (1, 2)}, r"\['x'\]: expected list, got tuple of 2"),
        ({"x": [1, 2]}, {"x": [1]}, r"\['x'\]: list of 2 expected, got list of 1"),
        ({"x": 1}, {"y": 1}, r"root: dict with keys \['x'\] expected, got .* \['y'\]"),
        ((1, None), (1, 2), r"\[1\]: expected NoneType, got a leaf of type int"),
        (Point(1, [2]), Point(1, 2), r"at \.y: expected list, got a leaf of type int"),
    ],
)
def test_mismatch_names_the_place(expected, found, message):
    with pytest.raises(ValueError, match=message):
        tree.tree_map(lambda x, y: x, expected, found)


def test_wrong_number_of_leaves():
    with pytest.raises(ValueError, match="3 leaves given for a tree that has 2"):
        tree.tree_unflatten(tree.tree_structure((1, 2)), [1, 2, 3])


def test_registered_types():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Layer:
        weight: float
        bias: float
        name: str = dataclasses.field(default="dense", metadata={"static": True})

    layer = Layer(1.0, 2.0, "first")
    assert tree.tree_map(lambda x: x + 1, layer) == Layer(2.0, 3.0, "first")
    assert tree.tree_structure(layer) != tree.tree_structure(Layer(1.0, 2.0, "second"))
    assert [tree.keystr(path) for path, _ in tree.tree_leaves_with_path(layer)] == [
        ".weight",
        ".bias",
    ]

    @functools.partial(tree.register_dataclass, data_fields=["x"], meta_fields=["n"])
    @dataclasses.dataclass
    class Named:
        x: float
        n: int

    assert tree.tree_leaves(Named(1.5, 3)) == [1.5]

    with pytest.raises(ValueError, match="missing fields"):
        tree.register_dataclass(dataclasses.make_dataclass("C", ["a", "b"]), ["a"], [])

    @tree.register_pytree_node_class
    class Pair:
        def __init__(self, x, y):
            self.parts = x, y

        def tree_flatten(self):
            return self.parts, "tag"

        @classmethod
        def tree_unflatten(cls, aux, children):
            assert aux == "tag"
            return cls(*children)

    assert tree.tree_map(lambda x: 2 * x, Pair(1, 2)).parts == (2, 4)

    @tree.register_static
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    assert tree.tree_leaves((Mode("a"), 1)) == [1]
    assert tree.tree_structure(Mode("a")) != tree.tree_structure(Mode("b"))


def test_standard_containers():
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert tree.tree_leaves(ordered) == [1, 2]
    default = collections.defaultdict(list, {"b": 1, "a": 2})
    mapped = tree.tree_map(lambda x: x, default)
    assert mapped.default_factory is list and list(mapped) == ["b", "a"]
    assert tree.tree_map(lambda x: -x, collections.deque([1, 2], 5)) == collections.deque([-1, -2])


def test_partial_is_a_tree():
    bound = tree.Partial(pow, 2, exp=3)
    assert tree.tree_leaves(bound) == [2, 3]
    assert tree.tree_map(lambda x: x + 1, bound)() == 3**4
    inner = functools.partial(pow, 2)
    assert tree.tree_leaves(tree.Partial(inner, 5)) == [5]
    assert tree.Partial(inner, 5)() == 32
    assert tree.tree_structure(tree.Partial(inner, 5)) == tree.tree_structure(
        tree.Partial(functools.partial(pow, 2), 6)
    )


def test_is_leaf_and_none():
    value = [None, (1, 2)]
    assert tree.tree_leaves(value, is_leaf=lambda x: x is None) == [None, 1, 2]
    assert tree.tree_leaves(value, is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2)]
    assert tree.tree_structure(None).num_leaves == 0
    assert tree.tree_map(lambda x, y: (x, y), [1], [(2, 3)]) == [(1, (2, 3))]


def test_composition_of_structures():
    pair, triple = tree.tree_structure((0, 0)), tree.tree_structure([0, 0, 0])
    assert pair.compose(triple) == tree.tree_structure(([0] * 3, [0] * 3))
    assert tree.treedef_tuple([pair, triple]) == tree.tree_structure(((0, 0), [0, 0, 0]))
    assert tree.treedef_children(pair) == [tree.tree_structure(0)] * 2
    assert tree.treedef_is_leaf(tree.tree_structure(0)) and not tree.treedef_is_leaf(pair)
    rows = ([1, 2, 3], [4, 5, 6])
    assert tree.tree_transpose(pair, triple, rows) == [(1, 4), (2, 5), (3, 6)]
    assert tree.tree_broadcast((0, 1), ([1, 2], 3)) == ([0, 0], 1)
    assert tree.tree_reduce_associative(lambda x, y: x + y, [1, 2, (3, 4), 5]) == 15
    assert tree.all_leaves([1, 2]) and not tree.all_leaves([1, (2,)])
