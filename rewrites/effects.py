"""Effects: what statements change beside local names.

A branch or loop that changes objects says so first, with `once_a_call()`: if the compiled program
decides about it, what objects hold is handed on like a variable.  One that raises stays an `if`:
with a predicate that Python knows it runs as written, with another one `bool()` refuses.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from overt.rewrites import core
from overt.rewrites.core import Assign, Define, Do, Function, If
from overt.rewrites.raising import raises_alone, waits
from overt.rewrites.scopes import CHANGING

if TYPE_CHECKING:
    from overt.rewrites.callees import Callees


# Methods that only containers have.  Those of a function's own have another form by now.
TAKING = frozenset(
    "pop popitem popleft setdefault append extend insert remove clear discard appendleft "
    "extendleft".split()
)
# Functions of modules that change their first argument, and methods of few containers.
CHANGING_FUNCTIONS = frozenset(
    "heappush heappop heapify heapreplace heappushpop insort insort_left insort_right iadd "
    "setitem delitem isub imul itruediv iconcat ior iand ixor".split()
)
UNSEEN_METHODS = frozenset("rotate move_to_end __setitem__ __setattr__ __delitem__ send".split())
OF_CONTEXTS = ("set", "reset")  # of a `ContextVar`


def effects_of(function: Function) -> frozenset[str]:
    """Nested functions that write outside themselves, by `nonlocal`, `global` or a store."""
    found: set[str] = set()
    defines = [s for s in every(function.body) if isinstance(s, Define)]
    while True:
        more = {
            d.name
            for d in defines
            if d.name not in found
            and any(writes(s) or core.reads_of(s) & found for s in core.walk(d.function.body))
        }
        if not more:
            return frozenset(found)
        found |= more


def every(block: core.Block) -> list[core.Stmt]:
    """Every statement, those of nested functions included."""
    found: list[core.Stmt] = []
    for s in core.walk(block):
        found.append(s)
        if isinstance(s, Define):
            found += every(s.function.body)
    return found


def writes(s: core.Stmt) -> bool:
    """Whether a statement changes something that is not a local name."""
    if isinstance(s, Do):
        return not isinstance(s.node, ast.Expr | ast.Assert | ast.Raise) or changes_contents(s.node)
    if isinstance(s, Assign) and takes_out(s.value):
        return True
    target = s.target if isinstance(s, Assign | core.For) else ()
    return sets_outside(target)


def takes_out(value: ast.expr) -> bool:
    """Whether an expression changes a container that is not the function's own."""
    return any(
        isinstance(n, ast.Call)
        and (
            isinstance(n.func, ast.Attribute)
            and n.func.attr in TAKING
            or isinstance(n.func, ast.Name)
            and n.func.id in ("@put_item", "@stored_in")
        )
        for n in ast.walk(value)
    )


def is_in_turn(call: ast.Call) -> bool:
    """Whether a call uses up or changes what is not the function's own, in a way that cannot be
    seen or set back: then lanes can only run one after another.
    """
    f = call.func
    if isinstance(f, ast.Name):
        if f.id in ("globals", "vars", "exec"):
            return True
        held = call.args[0] if f.id in ("next", "setattr", "delattr") and call.args else None
    elif isinstance(f, ast.Attribute) and f.attr in (*CHANGING_FUNCTIONS, "shuffle"):
        held = call.args[0] if call.args else None
    elif isinstance(f, ast.Attribute) and f.attr in OF_CONTEXTS:
        held = f.value if isinstance(f.value, ast.Name | ast.Attribute) else None
    else:
        held = f.value if isinstance(f, ast.Attribute) and f.attr in UNSEEN_METHODS else None
    methods = [a.value for a in call.args if isinstance(a, ast.Attribute) and changes_unseen(a)]
    return any(map(is_outside, (held, *methods)))


def changes_unseen(method: ast.Attribute) -> bool:
    return method.attr in CHANGING or method.attr in UNSEEN_METHODS


def is_outside(held: ast.expr | None) -> bool:
    """Whether an expression reads what is not the function's own."""
    while isinstance(held, ast.Attribute | ast.Subscript):
        held = held.value
    return isinstance(held, ast.Name) and not core.is_local(held.id)


def takes_turns(function: Function) -> bool:
    """Whether a function makes such calls."""
    calls = [c for s in core.walk(function.body) for c in own_calls(s)]
    calls += [n for n in ast.walk(function.result) if isinstance(n, ast.Call)]
    return any(map(is_in_turn, calls))


def sets_outside(target: core.Pattern) -> bool:
    """Whether a target has names that other functions see."""
    return any(not core.is_local(n) and n != "*" for n in core.pattern_names(target))


def changes_contents(node: ast.stmt) -> bool:
    """Whether a call changes a container that is not the function's own."""
    call = node.value if isinstance(node, ast.Expr) else None
    f = call.func if isinstance(call, ast.Call) else None
    return isinstance(f, ast.Attribute) and f.attr in CHANGING or changes_there(call)


def changes_there(node: ast.AST | None) -> bool:
    """Whether a call changes a container of others as an operator such as `+=` does."""
    return isinstance(node, ast.Call) and core.is_call_of(node, "@change_there")


def changed_in_place(function: Function) -> set[str]:
    """Names of containers that a function, or one nested in it, changes where they stand."""
    found: set[str] = set()
    for s in every(function.body):
        places: list[ast.expr] = []
        if isinstance(s, Do) and isinstance(s.node, ast.Assign | ast.Delete):
            places = [t.value for t in s.node.targets if isinstance(t, ast.Subscript)]
        for c in own_calls(s):
            if isinstance(c.func, ast.Attribute) and c.func.attr in CHANGING | TAKING:
                places.append(c.func.value)
            elif changes_there(c):
                places.append(c.args[0])
        for place in places:
            while isinstance(place, ast.Subscript):
                place = place.value
            if isinstance(place, ast.Name):
                found.add(place.id)
    return found


def has_effects(block: core.Block, effectful: frozenset[str], callees: Callees) -> bool:
    """Whether a block must be run by Python itself."""
    for s in core.walk(block):
        if writes(s):
            return True
        if isinstance(s, Do) and isinstance(s.node, ast.Expr) and not is_harmless(s.node, callees):
            return True
        if effectful & core.reads_of(s):
            return True
    return False


def own_calls(s: core.Stmt) -> list[ast.Call]:
    """The calls in a statement, its blocks apart."""
    found: list[ast.Call] = []

    def visit(node: Any) -> Any:
        found.extend(n for n in ast.walk(node) if isinstance(n, ast.Call))
        return node

    if not isinstance(s, Define):
        core.map_stmt(core.without_blocks(s), visit)
    return found


def advances(node: ast.Call) -> bool:
    """Whether a call goes on in a generator, which only Python can."""
    return isinstance(node.func, ast.Attribute) and node.func.attr == "send"


def must_stay(block: core.Block) -> bool:
    """Whether a block does what can be no part of a compiled program: `raise`, `del`, `import`."""
    movable = ast.Expr | ast.Assert | ast.Assign
    for s in block:
        inner = core.blocks_of(s)
        if isinstance(s, If) and any(map(raises_alone, inner)):
            inner = tuple(b for b in inner if not raises_alone(b))
        kept = isinstance(s, Do) and not isinstance(s.node, movable) and not waits(s.node)
        if kept or any(map(must_stay, inner)):
            return True
        if "next" in core.reads_of(s) or any(map(advances, own_calls(s))):
            return True  # what is left of an iterator, only Python knows
    return False


def outer_names(block: core.Block) -> set[str]:
    """Names that other functions see and that a block sets."""
    found: set[str] = set()
    for s in core.walk(block):
        if isinstance(s, Assign | core.For):
            found |= {n for n in core.pattern_names(s.target) if not core.is_local(n) and n != "*"}
    return found


def is_harmless(node: ast.Expr, callees: Callees) -> bool:
    """Whether a call made for its effect alone can be a part of the compiled program."""
    call = node.value
    if not isinstance(call, ast.Call):
        return True
    if isinstance(call.func, ast.Name) and call.func.id.startswith("@"):
        return True
    if callees.is_builtin(call.func, print):
        return True
    module = getattr(callees.object(call.func), "__module__", None) or ""
    return module.partition(".")[0] == "overt"
