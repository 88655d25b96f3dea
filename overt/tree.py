"""Trees: nested containers whose leaves are values.

>>> from overt import tree
>>> tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
{'a': 11, 'b': (22, 33)}
"""

from overt.runtime.tree import tree_all as all
from overt.runtime.tree import tree_broadcast as broadcast
from overt.runtime.tree import tree_flatten as flatten
from overt.runtime.tree import tree_flatten_with_path as flatten_with_path
from overt.runtime.tree import tree_leaves as leaves
from overt.runtime.tree import tree_leaves_with_path as leaves_with_path
from overt.runtime.tree import tree_map as map
from overt.runtime.tree import tree_map_with_path as map_with_path
from overt.runtime.tree import tree_reduce as reduce
from overt.runtime.tree import tree_reduce_associative as reduce_associative
from overt.runtime.tree import tree_structure as structure
from overt.runtime.tree import tree_transpose as transpose
from overt.runtime.tree import tree_unflatten as unflatten
from overt.runtime.tree_registry import static as static

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
