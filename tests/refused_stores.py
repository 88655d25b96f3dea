"""Programs whose stores in place show under other names in NumPy: refused."""

from __future__ import annotations

import types

import overt.numpy as np


class M:
    def __init__(self, a):
        self.a = a

    def part(self):
        return self.a[:2]

    def put(self, v, k):
        v[0] = k

    def scale(self, v, k):
        v *= k


def bump(v):
    v[0] = 5.0
    return np.sum(v)


def zeroed(vs):
    vs[0][0] = 0.0


def rebinds(v):
    v[0] = 3.0
    v = v * 2
    return v


class Obj:
    def put(self, v):
        v[0] = 5.0

    @staticmethod
    def sput(v):
        v[0] = 5.0


def diagonal_read_before_store(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    d = np.diag(a)
    a[0, 0] = 5.0
    return np.sum(a) + np.sum(d * x)


def row_in_list(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    rows = [a[0], a[1]]
    rows[1][0] = x * x
    return np.sum(a * a)


def part_in_tuple(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    parts = (a[:, :1], a[:, 1:])
    parts[1][:] = x * x
    return np.sum(a * a)


def part_in_dictionary(x):
    a = np.arange(1.0, 7.0) * x
    d = {"l": a[:2], "r": a[2:]}
    d["l"] += 1.0
    return np.sum(a * a)


def rows_as_list(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    rows = list(a)
    rows[1][0] = x * x
    return np.sum(a * a)


def rows_of_display(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    for r in [a[0], a[1]]:
        r[0] = x * x
    return np.sum(a * a)


def copy_in_one_branch(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    r = a[0]
    if x > 0.6:
        r = r.copy()
    r[0] = 7 * x
    return np.sum(a * a)


def view_from_nested(x):
    a = np.arange(1.0, 7.0) * x

    def top2():
        return a[:2]

    t = top2()
    t[0] = x * x
    return np.sum(a * a)


def method_stores(x):
    a = np.arange(1.0, 7.0) * x
    M(0).put(a, x * x)
    return np.sum(a * a)


def method_scales(x):
    a = np.arange(1.0, 7.0) * x
    m = M(0)
    m.scale(a, x * x)
    return np.sum(a * a)


def columns_unpacked(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    p, q, r = a.T
    q *= x
    return np.sum(a * a)


def parts_of_split(x):
    a = np.arange(1.0, 7.0) * x
    p, q = np.split(a, 2)
    p[0] = x * x
    return np.sum(a * a)


def ravel_of_transpose(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = a.T
    t = b.ravel()
    t[1] = x * x
    return np.sum(b * b)


def ravel_of_scaled_transpose(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = a.T * 2
    t = b.ravel()
    t[1] = x * x
    return np.sum(b * b)


def ravel_of_columns(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = a[:, :2]
    t = b.ravel()
    t[1] = x * x
    return np.sum(b * b) + np.sum(a)


def reshape_in_other_order(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = a.reshape(-1, order="F")
    t[1] = x * x
    return np.sum(a * a) * t[1]


def new_axis(x):
    a = np.arange(1.0, 4.0) * x
    t = a[:, None]
    t[1] = x * x
    return np.sum(a * a)


def turned(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = np.rot90(a)
    t[0] = x * x
    return np.sum(a * a)


def as_array(x):
    a = np.arange(1.0, 7.0) * x
    t = np.asarray(a)
    t[0] = x * x
    return np.sum(a * a)


def store_into_copy_by_list(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    a[[0, 1]][0] = x * x
    return np.sum(a * a)


def store_into_copy_by_mask(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    a[a > 3.0][0] = x * x
    return np.sum(a * a)


def condition_of_two(x):
    a = np.arange(1.0, 7.0) * x
    b = np.zeros(6)
    c = a if x > 0.6 else b
    c[0] = x * x
    return np.sum(a * a) + np.sum(b) * x


def dictionary_item_changed(x):
    a = np.arange(1.0, 7.0) * x
    d = {}
    d["a"] = a
    d["a"][0] = x * x
    return np.sum(a * a)


def array_in_dictionary_changed(x):
    a = np.arange(1.0, 7.0) * x
    d = {"a": a}
    a[0] = x * x
    return np.sum(d["a"] ** 2)


def item_of_list_added_to(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a]
    xs[0] += 1
    return np.sum(a * a)


def array_in_list_added_to(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a]
    a += 1
    return np.sum(xs[0] * a)


def array_appended_and_stored(x):
    xs = []
    a = np.arange(1.0, 7.0) * x
    for i in range(3):
        xs.append(a)
        a[i] = x * x
    return np.sum(xs[0] * xs[1])


def array_appended_and_added(x):
    xs = []
    a = np.arange(1.0, 7.0) * x
    for _ in range(3):
        xs.append(a)
        a += x
    return np.sum(xs[0] * xs[1])


def slices_appended(x):
    xs = []
    a = np.arange(1.0, 7.0) * x
    for _ in range(3):
        xs.append(a[:2])
        a[0] += x
    return np.sum(xs[0] * xs[1])


def slices_of_comprehension(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a[i : i + 2] for i in range(3)]
    xs[1][0] = x * x
    return np.sum(a * a)


def slices_of_comprehension_read(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a[i : i + 2] for i in range(3)]
    a[1] = x * x
    return np.sum(xs[0] * xs[1])


def loop_over_list_stores(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a, a * 2]
    for v in xs:
        v[0] = x * x
    return np.sum(a * a)


def loop_over_list_scales(x):
    a = np.arange(1.0, 7.0) * x
    xs = [a, a * 2]
    for v in xs:
        v *= x
    return np.sum(a * a) + np.sum(xs[1])


def loop_over_tuple_scales(x):
    a = np.arange(1.0, 7.0) * x
    b = a * 2
    for v in (a, b):
        v *= x
    return np.sum(a * a) + np.sum(b)


def loop_over_tuple_stores(x):
    a = np.arange(1.0, 7.0) * x
    b = a * 2
    for v in (a, b):
        v[0] = x
    return np.sum(a * a) + np.sum(b)


def one_row_twice(x):
    g = [[0.0] * 3] * 2
    g[0][1] = x
    return g[1][1] * g[0][1] + 0.0 * x


def named_row_twice(x):
    r = [0.0] * 3
    g = [r] * 2
    g[0][1] = x
    return g[1][1] * g[0][1] + 0.0 * x


def row_named_twice(x):
    r = [0.0] * 3
    g = [r, r]
    g[0][1] = x
    return g[1][1] * g[0][1] + r[1]


def array_twice(x):
    g = [np.zeros(3)] * 2
    g[0][1] = x
    return g[1][1] * g[0][1] + 0.0 * x


def comprehension_twice(x):
    g = [[0.0] * 3 for _ in range(2)] * 2
    g[0][1] = x
    return g[2][1] * g[0][1] + 0.0 * x


def row_appended_again(x):
    g = []
    r = [0.0] * 2
    for _ in range(3):
        g.append(r)
        r[0] += x
    return g[0][0] * g[1][0]


def arrays_of_list_copy(x):
    a = [np.ones(2) * x]
    b = a.copy()
    b[0][0] = 5.0
    return a[0][0] * x


def items_of_starred_list(x):
    a = [np.ones(2) * x]
    b = [*a]
    b[0][0] = 5.0
    return a[0][0] * x


def views_swapped(x):
    a = np.arange(1.0, 7.0) * x
    p, q = (a[:3], a[3:])
    p, q = (q, p)
    p[:] = x * x
    return np.sum(a * a * np.arange(6.0)) + np.sum(p)


def fresh_row_changed_after_append(x):
    rows = []
    for i in range(3):
        v = np.zeros(2)
        v[0] = x * i
        rows.append(v)
        v[1] = x
    return np.sum(rows[1] * rows[2]) + 0.0 * x


def given_twice_read_later(x):

    def f(u, w):
        u[0] = 5.0
        return u + w

    a = np.arange(1.0, 4.0) * x
    b = f(a, a)
    return np.sum(a * b)


def view_from_closure(x):
    a = np.arange(1.0, 4.0) * x

    def f():
        return a[1:]

    t = f()
    a[1] = x * x
    return np.sum(t * t)


def best_kept_by_name(x):
    best = np.zeros(3)
    cur = np.arange(3.0) * x
    for k in range(3):
        cur[k] = x * k - cur[0]
        if np.sum(cur) > 0.1:
            best = cur
    return np.sum(best) + np.sum(cur)


def helper_binds_anew(x):
    a = np.arange(1.0, 4.0) * x
    b = rebinds(a)
    return np.sum(a * b)


def lambda_stores(x):
    a = np.ones(3) * x
    f = lambda v: v.fill(x * x)
    f(a)
    return np.sum(a)


def helper_by_other_name(x):
    a = np.ones(3) * x
    g = bump
    g(a)
    return np.sum(a)


def method_of_object(x):
    a = np.ones(3) * x
    o = Obj()
    o.put(a)
    return np.sum(a)


def static_method(x):
    a = np.ones(3) * x
    Obj.sput(a)
    return np.sum(a)


def slices_of_rows_of_an_array(x):
    a = np.array([[x, 1.0], [x * x, 2.0 * x]])
    b = [row[:] for row in a]
    b[0][1] = 3 * x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def slices_of_arrays_in_a_list(x):
    a = [np.array([x, 1.0]), np.array([x * x, 2.0 * x])]
    b = [row[:] for row in a]
    b[0][1] = 3 * x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def shallow_copies_of_rows_of_lists(x):
    a = [[[x, 1.0], [x * x, 2.0 * x]]]
    b = [list(p) for p in a]
    b[0][0][1] = 3 * x
    return b[0][0][1] + a[0][0][1]


def change_below_shallow_copies(x):
    a = [[[x, 1.0], [x * x, 2.0 * x]]]
    b = [p.copy() for p in a]
    a[0][0][1] += 3 * x
    return b[0][0][1] + a[0][0][1]


def lists_of_rows_of_rows(x):
    a = np.ones((2, 2, 2)) * x
    b = [list(p) for p in a]
    b[0][0][1] = 3 * x
    return b[0][0][1] + a[0][0][1]


def array_after_slices_of_its_rows(x):
    a = np.ones((2, 2)) * x
    b = [row[:] for row in a]
    a[0] = 3 * x
    return b[0][1] + a[0][1]


def arrays_in_a_list_after_slices(x):
    a = [np.array([x, 1.0]), np.array([x * x, 2.0 * x])]
    b = [row[:] for row in a]
    a[0][1] = 3 * x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def array_in_a_list_of_lists_after_slices(x):
    a = [[np.array([x, 1.0])], [np.array([x * x, 2.0 * x])]]
    b = [row[:] for row in a]
    a[0][0] += 3 * x
    return b[0][0][0] + a[0][0][0]


def object_given_an_array(x):
    a = np.ones(3) * x
    o = M(a)
    a[0] = 5 * x
    return np.sum(o.a * a)


def array_changed_through_its_object(x):
    a = np.ones(3) * x
    o = M(a)
    o.a[0] = 5 * x
    return np.sum(o.a * a)


def list_kept_in_an_item(x):
    grid = [[[0.0], 0.0], [0.0, 0.0]]
    row = [x, 1.0]
    grid[0][0] = row
    row[1] = 5 * x
    return grid[0][0][1] + row[0]


def items_of_a_copied_list(x):
    b = [np.ones(2) * x, np.ones(2)]
    c = list(b)
    b[0][1] = 9.0
    return c[0][1] * x


def array_in_a_copied_list(x):
    r = np.ones(2) * x
    b = [r, r * 2]
    c = b.copy()
    r[0] = 9.0
    return c[0][0] * x


def array_in_a_list_of_a_list(x):
    r = np.ones(2) * x
    b = [r, r * 2]
    c = list(b)
    r[0] = 9.0
    return c[0][0] * x


def array_in_a_dictionary_in_a_list(x):
    r = np.ones(2) * x
    b = {"k": r}
    c = [b]
    r[0] = 9.0
    return c[0]["k"][0] * x


def helper_of_items_of_a_display(x):
    a = np.ones(2) * x
    zeroed([a, a * 2])
    return np.sum(a) * x


def item_of_a_copied_dictionary(x):
    d = {"w": np.ones(2) * x}
    e = dict(d)
    e["w"] *= 2
    return np.sum(d["w"] * e["w"])


HELPERS = [
    "M",
    "Obj",
    "bump",
    "rebinds",
    "zeroed",
]
# With a derivative over the fields of the object.
BY_FIELDS = [object_given_an_array, array_changed_through_its_object]
REFUSED = [
    f
    for name, f in list(globals().items())
    if isinstance(f, types.FunctionType) and name not in HELPERS
]
