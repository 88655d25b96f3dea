"""Programs whose stores in place show under other names, and are followed there."""

from __future__ import annotations

import types

import overt.numpy as np


def same(a):
    return a


def top(a):
    return a[:2]


def outer2(v, k):
    w = v[1:]
    w *= k


def outer4(v, k):
    for r in v:
        r *= k


def outer5(v, k):
    w = v
    w[0] = k


def put(v, k):
    v[0] = k


def scale(v, k):
    v *= k


def steps(n):
    n -= 1.0
    return n * n


def half(v):
    v /= 2.0
    return v + 1.0


def bump(v):
    v[0] = 5.0
    return np.sum(v)


def halved(v):
    v *= 0.5
    return v


def late(v, k):
    scale(v[1:], k)


def again(v):
    late(v, 2.0)
    put(v, 3.0)
    return v


def outer(v, k):
    scale(v, k)
    v[0] = k


def clean(v):
    v = v.copy()
    v[0] = 0.0
    return v


def rec(v, k):
    if k < 3:
        v[k] *= 2.0
        rec(v, k + 1)


def swp(v, i, j):
    t = v[i]
    v[i] = v[j]
    v[j] = t


def ret(v):
    v[0] = 2.0
    return v


def row_divided(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    row = a[0]
    row /= 3.0
    return np.sum(a * a)


def row_eliminated(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    k = 2.0 * x
    row = a[0]
    row -= k * a[1]
    return np.sum(a * a)


def columns_scaled(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    for j in range(3):
        col = a[:, j]
        col *= 2.0 * x
    return np.sum(a * a)


def rows_scaled(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    for row in a:
        row *= 2.0
    return np.sum(a * a)


def rows_filled(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    for i, row in enumerate(a):
        row[...] = x * i + row[0]
    return np.sum(a * a)


def halves_added(x):
    a = np.arange(1.0, 9.0).reshape(4, 2) * x
    upper, lower = (a[:2], a[2:])
    upper += lower
    return np.sum(a * a * a)


def disjoint_parts(x):
    v = np.arange(1.0, 7.0) * x
    k = 2
    left = v[:k]
    right = v[k:]
    left += 1
    right *= 2
    return np.sum(v * v)


def disjoint_parts_read(x):
    v = np.arange(1.0, 7.0) * x
    k = 2
    left = v[:k]
    right = v[k:]
    left += 1
    right *= 2
    return np.sum(v * v) + left[0] * right[1]


def diagonal_method(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    d = a.diagonal()
    a[0, 0] = 5.0
    return np.sum(a) + np.sum(d * x)


def store_through_transpose(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    a.T[0] = x * x
    return np.sum(a * a)


def store_through_ravel(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    a.ravel()[4] = x * x
    return np.sum(a * a)


def added_through_reshape(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    a.reshape(-1)[4] += x * x
    return np.sum(a * a)


def store_through_flat(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    a.flat[4] = x * x
    a.flat[::2] *= 2.0
    return np.sum(a * a)


def views_of_views(x):
    a = np.arange(1.0, 7.0) * x
    v = a[1:4]
    v[0] = 5 * x
    w = v[1:]
    w += 1
    return np.sum(a * a) + np.sum(v)


def view_of_view_read(x):
    a = np.arange(1.0, 7.0) * x
    v = a[1:4]
    w = v[1:]
    a[2] = 7 * x
    return np.sum(w * x) + np.sum(v)


def helper_stores_into_parts(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    put(a[1], x * x)
    put(a[:, 1], x * x)
    return np.sum(a * a)


def helper_scales_row(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    scale(a[1], x * x)
    return np.sum(a * a)


def helper_scales_named_row(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    r = a[1]
    scale(r, x * x)
    return np.sum(a * a) + np.sum(r)


def helper_scales_array(x):
    a = np.arange(1.0, 7.0) * x
    scale(a, x * x)
    return np.sum(a * a)


def rows_swapped_by_lists(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    i, j = (0, 2)
    a[[i, j]] = a[[j, i]]
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def rows_swapped_by_copies(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    i, j = (0, 2)
    a[i], a[j] = (a[j].copy(), a[i].copy())
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def numbers_swapped(x):
    a = np.arange(1.0, 7.0) * x
    i, j = (0, 2)
    a[i], a[j] = (a[j], a[i])
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def view_kept_through_swap(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    t = a[0]
    a[0] = a[2]
    a[2] = t
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def copy_kept_through_swap(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    t = a[0].copy()
    a[0] = a[2]
    a[2] = t
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def second_name_added_to(x):
    a = np.arange(1.0, 7.0) * x
    b = a
    b += 1
    return np.sum(a * a)


def second_name_bound_anew(x):
    a = np.arange(1.0, 7.0) * x
    b = a
    b = b + 1
    return np.sum(a * a) + np.sum(b * a)


def buffers_by_slices(x):
    old = np.arange(1.0, 7.0) * x
    new = np.zeros(6)
    for _ in range(3):
        new[1:-1] = old[:-2] + old[2:] * x
        old, new = (new, old)
    return np.sum(old * old) + np.sum(new)


def buffers_by_items(x):
    old = np.arange(1.0, 7.0) * x
    new = old.copy()
    for _ in range(3):
        for i in range(1, 5):
            new[i] = old[i - 1] + x * old[i + 1]
        old, new = (new, old)
    return np.sum(old * old) + np.sum(new)


def rows_by_index(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    for i in range(3):
        r = a[i]
        for j in range(i):
            r[j] -= x * a[j, j]
    return np.sum(a * a)


def elimination(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    for i in range(3):
        for j in range(i + 1, 3):
            r = a[j]
            r -= a[i] * (r[i] / a[i, i])
            r[i] = x
    return np.sum(a * a)


def row_of_branch(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    if x > 0.6:
        r = a[0]
    else:
        r = a[1]
    r[0] = 7 * x
    return np.sum(a * a)


def row_changed_in_branches(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    r = a[0]
    if x > 0.6:
        r[0] = 3.0
    else:
        r *= 2
    return np.sum(a * a)


def row_of_condition(x):
    a = np.arange(1.0, 10.0).reshape(3, 3) * x
    r = a[0] if x > 0.6 else a[1]
    r += 7 * x
    return np.sum(a * a)


def rows_of_two(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = np.ones((2, 3))
    for r, s in zip(a, b, strict=False):
        r[0] = x * x
        r += s
    return np.sum(a * a)


def rows_filled_from_rows(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = np.ones((2, 3))
    for r, s in zip(a, b, strict=False):
        r[:] = s * x * x
    return np.sum(a * a)


def transposed_by_function(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = np.transpose(a)
    t[0, 1] = x * x
    return np.sum(a * a)


def raveled_by_function(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = np.ravel(a)
    t[1] = x * x
    return np.sum(a * a)


def reshaped_by_function(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = np.reshape(a, (3, 2))
    t[1] = x * x
    return np.sum(a * a)


def flatten_copies(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = a.flatten()
    t[1] = x * x
    return np.sum(a * a) * t[1]


def flipped(x):
    a = np.arange(1.0, 4.0) * x
    t = np.flip(a)
    t[0] = x * x
    return np.sum(a * a)


def reversed_slice(x):
    a = np.arange(1.0, 4.0) * x
    t = a[::-1]
    t[0] = x * x
    return np.sum(a * a)


def axes_swapped(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = a.swapaxes(0, 1)
    t[0] = x * x
    return np.sum(a * a)


def axis_moved(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    t = np.moveaxis(a, 0, 1)
    t[0] = x * x
    return np.sum(a * a)


def array_copies(x):
    a = np.arange(1.0, 7.0) * x
    t = np.array(a)
    t[0] = x * x
    return np.sum(a * a)


def item_of_slice(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    t = a[1:][0]
    t[0] = x * x
    return np.sum(a * a)


def store_into_item_of_slice(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    a[1:][0][2] = x * x
    return np.sum(a * a)


def item_of_slice_scaled(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    a[1:][0] *= x * x
    return np.sum(a * a)


def transpose_of_row(x):
    a = np.arange(1.0, 13.0).reshape(3, 4) * x
    a[1].T[0] = x * x
    return np.sum(a * a)


def two_targets(x):
    a = b = np.zeros(3) + x
    b[0] = x * x
    return np.sum(a * a)


def two_targets_added_to(x):
    a = b = np.zeros(3) + x
    b += x * x
    return np.sum(a * a)


def list_slice_copies(x):
    a = [x, 2 * x, 3 * x]
    b = a[:]
    b[0] = 5.0
    b.append(x)
    return a[0] * len(a) * b[0]


def row_of_lists_read_after_store(x):
    g = [[x, 2 * x], [x * x, 1.0]]
    r = g[0]
    g[0][1] = 5 * x
    return r[1] * r[0] * g[0][1]


def row_of_lists_replaced(x):
    g = [[x, 2 * x], [x * x, 1.0]]
    r = g[0]
    g[0] = [x, x * x]
    return r[1] * r[0] * g[0][1]


def row_replaced_then_changed(x):
    g = [[x, 2 * x], [x * x, 1.0]]
    r = g[0]
    g[0] = [x, x * x]
    g[0][1] = 5 * x
    return r[1] * r[0] * g[0][1]


def row_of_lists_grown(x):
    g = [[x, 2 * x], [x * x, 1.0]]
    r = g[0]
    g[0].append(7 * x)
    return r[2] * r[0] * g[0][1]


def row_before(x):
    g = [[x, 2 * x], [x * x, 1.0], [x, x]]
    for i in range(1, 3):
        prev = g[i - 1]
        g[i][0] = prev[0] * x
        g[i][1] += prev[1]
    return g[2][0] * g[1][1]


def row_named_and_indexed(x):
    g = [[x, 2 * x], [x * x, 1.0], [x, x]]
    for i in range(3):
        r = g[i]
        g[i][0] = r[1] * x
        r[1] = g[i][0] + r[0]
    return g[2][0] * g[1][1]


def store_into_list_slice(x):
    xs = [x, 2 * x, 3 * x]
    xs[1:3][0] = 7.0
    return xs[1] * x


def slice_of_list_replaced(x):
    xs = [x, 2 * x, 3 * x]
    xs[1:3] = [7.0, x]
    return xs[1] * x + xs[2]


def row_pairs(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    for i in range(3):
        for j in range(3):
            if i != j:
                ri = a[i]
                rj = a[j]
                ri += rj * 0.1
    return np.sum(a * a)


def array_added_under_row(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    r = a[0]
    a += 1.0
    return np.sum(r) * x


def array_bound_anew_under_row(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    r = a[0]
    a = a + 1.0
    r[0] = x * x
    return np.sum(r) * x + np.sum(a)


def one_row_under_two_names(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    r = a[0]
    s = a[0]
    r[0] = x * x
    return np.sum(s)


def row_changed_in_loop(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    row = a[0]
    for j in range(1, 3):
        row -= x * a[j]
    return np.sum(a * a)


def number_changed_in_loop(x):
    a = np.arange(1.0, 7.0) * x
    s = a[0]
    for j in range(1, 3):
        s -= x * a[j]
    return np.sum(a * a) * s


def slice_changed_in_loop(x):
    a = np.arange(1.0, 7.0) * x
    s = a[:2]
    for j in range(2, 6):
        s -= x * a[j]
    return np.sum(a * a)


def slice_changed_in_while(x):
    a = np.arange(1.0, 7.0) * x
    s = a[:2]
    k = 0
    while np.sum(a) < 20.0:
        s += a[2:4]
        k += 1
    return np.sum(a * a) * k


def slices_in_branches(x):
    a = np.arange(1.0, 7.0) * x
    s = a[:2]
    if x > 0.6:
        s += a[2:4]
        t = s[1:]
    else:
        a[0] = x * x
        t = s[:1]
    return np.sum(a * a) * np.sum(s) * np.sum(t)


def views_unpacked(x):
    a = np.arange(1.0, 7.0) * x
    p, q = (a[:3], a[3:])
    p[:] = q
    q[0] = x * x
    return np.sum(a * a) + np.sum(p)


def rows_with_numbers(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    b = [1.0, 2.0]
    for r, k in zip(a, b, strict=False):
        r *= k * x
    return np.sum(a * a)


def columns_looped_over(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    for col in a.T:
        col /= np.sum(col) * x
    return np.sum(a * a)


def slice_looped_over(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    for r in a[1:]:
        r[0] += x * x
    return np.sum(a * a)


def overlapping_slices(x):
    a = np.arange(1.0, 7.0) * x
    a[1:] = a[:-1]
    a[2:] += a[:-2]
    return np.sum(a * a)


def overlapping_views(x):
    a = np.arange(1.0, 7.0) * x
    p = a[1:]
    q = a[:-1]
    p += q
    return np.sum(a * a) + np.sum(q)


def masked_read(x):
    a = np.arange(1.0, 7.0) * x
    m = a > 1.2
    b = a[m]  # noqa: F841
    a[m] = 0.0
    return np.sum(a) + x


def masked_scaled(x):
    a = np.arange(1.0, 7.0) * x
    a[a > 1.2] *= 2.0
    return np.sum(a) + x


def row_copied(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    r = a[0].copy()
    a[0] = 0.0
    r *= 2
    return np.sum(a) + np.sum(r)


def arrays_in_list(x):
    xs = [np.ones(2) * x for _ in range(3)]
    for i in range(3):
        xs[i] += i * x
        xs[i][0] = x * x
    return np.sum(xs[1] * xs[2])


def slices_of_fresh_rows(x):
    rows = []
    for i in range(3):
        v = np.zeros(2)
        v[0] = x * i
        rows.append(v[1:])
    return np.sum(rows[1]) + x


def copies_of_buffer(x):
    rows = []
    v = np.zeros(2)
    for i in range(3):
        v[0] = x * i
        rows.append(v.copy())
    return np.sum(rows[1] * rows[2]) + x


def given_twice(x):

    def f(u, w):
        u[0] = w[1]
        return u

    a = np.arange(1.0, 4.0) * x
    b = f(a, a)
    return np.sum(a * b)


def given_with_copy(x):

    def f(u, w):
        u += 5.0
        return u + w

    a = np.arange(1.0, 4.0) * x
    b = f(a.copy(), a)
    return np.sum(a * b)


def closure_stores(x):
    a = np.arange(1.0, 4.0) * x

    def f(i):
        a[i] = x * x

    f(1)
    return np.sum(a * a)


def closure_stores_into_row(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    r = a[1]

    def f():
        r[0] = x * x

    f()
    return np.sum(a * a)


def lambda_reads(x):
    a = np.arange(1.0, 4.0) * x
    g = lambda: np.sum(a)
    a[0] = x * x
    return g()


def swapped_in_loop(x):
    u = np.zeros(3)
    v = np.arange(3.0) * x
    for k in range(3):
        u, v = (v, u)
        u[k] = v[k] + x
    return np.sum(u * v) + np.sum(u)


def three_in_turn(x):
    p = np.zeros(3)
    q = np.arange(3.0) * x
    r = np.ones(3)
    for _ in range(4):
        r[0] = p[1] + q[2] * x
        p, q, r = (q, r, p)
    return np.sum(p * q) + np.sum(r)


def best_kept_by_copy(x):
    best = np.zeros(3)
    cur = np.arange(3.0) * x
    for k in range(3):
        cur[k] = x * k - cur[0]
        if np.sum(cur) > 0.1:
            best = cur.copy()
    return np.sum(best) + np.sum(cur)


def previous_by_name(x):
    cur = np.arange(3.0) * x
    t = 0.0
    for k in range(3):
        prev = cur
        cur[k] = x * k - cur[0]
        t = t + np.sum(np.abs(cur - prev))
    return t + np.sum(cur)


def previous_bound_anew(x):
    cur = np.arange(3.0) * x
    t = 0.0
    for _ in range(3):
        prev = cur
        cur = cur * x + 1.0
        t = t + np.sum(np.abs(cur - prev))
    return t + np.sum(cur)


def previous_added_to(x):
    cur = np.arange(3.0) * x
    t = 0.0
    for _ in range(3):
        prev = cur
        cur += x
        t = t + np.sum(np.abs(cur - prev))
    return t + np.sum(cur)


def number_given_to_scaler(x):
    s = x
    scale(s, 3.0)
    return s * x


def helper_counts_down(x):
    y = steps(x)
    return y * x


def helper_given_copy(x):
    a = np.arange(1.0, 4.0) * x
    b = half(a.copy())
    return np.sum(a * b)


def helper_given_views(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    bump(a.ravel())
    bump(np.ravel(a)[2:])
    bump(a.T[1])
    return np.sum(a * a)


def nested_scaler(x):

    def sc(v):
        v *= x

    a = np.arange(1.0, 4.0) * x
    sc(a)
    sc(a[:2])
    return np.sum(a)


def two_levels(x):
    a = np.arange(1.0, 4.0) * x
    outer(a, 2 * x)
    return np.sum(a)


def helper_copies_first(x):
    a = np.arange(1.0, 4.0) * x
    b = clean(a)
    return np.sum(a * b)


def recursive_helper(x):
    a = np.arange(1.0, 4.0) * x
    rec(a, 0)
    return np.sum(a * x)


def helper_swaps(x):
    a = np.arange(1.0, 4.0) * x
    swp(a, 0, 2)
    return a[0] * x


def result_is_argument_read(x):
    a = np.arange(1.0, 4.0) * x
    b = ret(a)
    return np.sum(a * b * x)


def nested_given_new(x):

    def f(v):
        v[0] = 2.0 * x
        return np.sum(v)

    return f(np.ones(3) * x) + f(np.zeros(3))


def helper_given_rows(x):
    a = np.ones((3, 2)) * x
    for i in range(3):
        scale(a[i], x + i)
    for r in a:
        scale(r, 2.0)
    return np.sum(a * a)


def helper_given_items(x):
    xs = [np.ones(2) * x, np.ones(2)]
    for v in xs:
        bump(v)
    return np.sum(xs[0])


def lists_of_slices_of_rows(x):
    a = [[x, 1.0], [x * x, 2.0 * x]]
    b = [row[:] for row in a]
    for i in range(2):
        for j in range(2):
            b[i][j] = sum(a[i][k] * a[k][j] for k in range(2))
    return b[0][1] * b[1][0] + a[0][0]


def lists_of_lists_of_rows(x):
    a = [[x, 1.0], [x * x, 2.0 * x]]
    b = [list(row) for row in a]
    b[0][1] = 3 * x
    b[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def lists_of_copies_of_rows(x):
    a = [[x, 1.0], [x * x, 2.0 * x]]
    b = [row.copy() for row in a]
    b[0][1] = 3 * x
    b[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def lists_of_copies_of_arrays(x):
    a = [np.array([x, 1.0]), np.array([x * x, 2.0 * x])]
    b = [row.copy() for row in a]
    b[0][1] = 3 * x
    b[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def copies_of_the_rows_of_an_array(x):
    a = np.array([[x, 1.0], [x * x, 2.0 * x]])
    b = [row.copy() for row in a]
    b[0][1] = 3 * x
    b[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def rows_of_an_array_as_lists(x):
    a = np.array([[x, 1.0], [x * x, 2.0 * x]])
    b = [list(row) for row in a]
    b[0][1] = 3 * x
    b[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def list_stored_into_after_copies_of_its_rows(x):
    a = [[x, 1.0], [x * x, 2.0 * x]]
    b = [list(row) for row in a]
    a[0][1] = 3 * x
    a[1][0] += x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def dictionaries_of_copied_lists(x):
    a = {"u": [x, 1.0], "v": [x * x, 2.0 * x]}
    b = {k: list(v) for k, v in a.items()}
    b["u"][1] = 3 * x
    b["v"][1] *= 3 * x
    return b["u"][1] * b["v"][0] + a["u"][1] + a["v"][0] + b["v"][1]


def longer_rows(x):
    a = [[x, 1.0], [x * x, 2.0 * x]]
    b = [row + [x] for row in a]
    b[0][1] = 3 * x
    return b[0][1] * b[1][0] + a[0][1] + a[1][0]


def helper_given_slice_by_helper(x):
    a = np.arange(1.0, 4.0) * x
    late(a, 2 * x)
    return np.sum(a)


def helpers_of_helpers(x):
    a = np.arange(1.0, 4.0) * x
    again(a)
    m = np.outer(a, a)
    again(m[1])
    return np.sum(a * a) + np.sum(m * m)


def sorted_along_an_axis(x):
    a = np.array([[3.0, x], [1.0, 2 * x]])
    a.sort(0)
    return a[0, 0] * 3 + a[1, 1] * 2 + a[0, 1]


def sorted_along_an_axis_by_name(x):
    a = np.array([[3.0, x], [1.0, 0.1 * x]])
    a.sort(axis=0)
    return a[0, 0] * 3 + a[1, 1] * 2 + a[0, 1]


def view_from_helper(x):
    a = np.arange(1.0, 7.0) * x
    t = top(a)
    t[0] = x * x
    return np.sum(a * a)


def view_from_helper_read(x):
    a = np.arange(1.0, 7.0) * x
    t = top(a)
    a[0] = x * x
    return np.sum(t * t)


def argument_given_back(x):
    a = np.arange(1.0, 7.0) * x
    t = same(a)
    t[0] = x * x
    return np.sum(a * a)


def helper_halves_and_returns(x):
    a = np.arange(1.0, 4.0) * x
    b = half(a)
    return np.sum(a * b)


def changed_within_expression(x):
    a = np.arange(1.0, 4.0) * x
    return bump(a) + a[0]


def changed_within_product(x):
    a = np.arange(1.0, 4.0) * x
    y = bump(a) * a[0]
    return y


def changed_within_test(x):
    a = np.arange(1.0, 4.0) * x
    if bump(a) > 3.0:
        return a[0] * x
    return x


def changed_within_display(x):
    a = np.arange(1.0, 4.0) * x
    return [bump(a), a[0]][1] * x


def changed_by_keyword(x):
    a = np.arange(1.0, 4.0) * x
    scale(v=a, k=x)
    return np.sum(a)


def two_levels_by_slice(x):
    a = np.arange(1.0, 4.0) * x
    outer2(a, 2 * x)
    return np.sum(a)


def two_levels_by_rows(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    outer4(a, 2 * x)
    return np.sum(a)


def two_levels_by_name(x):
    a = np.arange(1.0, 4.0) * x
    outer5(a, 2 * x)
    return np.sum(a)


def result_is_argument_stored(x):
    a = np.arange(1.0, 4.0) * x
    b = ret(a)
    b[1] = 7 * x
    return np.sum(a * x)


def comprehension_stores(x):
    xs = [np.ones(2) * x, np.ones(2)]
    [bump(v) for v in xs]
    return np.sum(xs[0])


def result_times_argument(x):
    a = np.arange(1.0, 4.0) * x
    return np.sum(a * again(a) * bump(a))


def result_after_what_it_changes(x):
    a = np.arange(1.0, 4.0) * x
    return a[0] * 3.0 + np.sum(a) * np.sum(again(a)) + a[1]


def changed_in_a_loop_test(x):
    a = np.arange(1.0, 4.0) * x
    while halved(a)[0] > 0.1:
        a[1] += x
    return np.sum(a)


def changed_and_added(x):
    a = np.arange(1.0, 4.0) * x
    a[1] += np.sum(again(a)) * a[1]
    return np.sum(a * a)


def helper_of_a_view(x):
    a = np.arange(1.0, 5.0) * x

    def doubled(v, k):
        b = v[k:]
        b *= 2

    doubled(a, 1)
    return np.sum(a * a)


def helper_of_rows(x):
    a = np.arange(1.0, 5.0).reshape(2, 2) * x

    def doubled(v):
        for row in v:
            row[0] *= 2

    doubled(a)
    return np.sum(a * a)


def holder_named_in_a_store(x):
    a = np.arange(1.0, 4.0) * x
    (b := a)[0] = np.sum(a)
    (c := b)[1] *= x
    return np.sum(a * c)


def copies_of_rows_in_three_levels(x):
    ms = [[[x, 2.0], [3.0 * x, 1.0]], [[x * x, x], [1.0, x]]]
    cs = [[row[:] for row in m] for m in ms]
    cs[0][1][0] *= x
    ms[1][0][1] += 2.0 * x
    return ms[0][1][0] + 2.0 * ms[1][0][1] + cs[0][1][0] * cs[1][0][1]


def stores_by_negative_steps(x):
    a = np.arange(1.0, 6.0) * x
    a[4:1:-1] += np.arange(3.0) * x
    a[::-1][:2] *= 2.0
    a[::2][1] = a[0] * x
    return np.sum(a * np.arange(5.0))


def nested_lists_stored(x):
    a = np.ones((4, 2)) * x
    a[1:3] = [[x, 2.0], [a[0, 0] * x, 1.0]]
    a[3, :] = x, 3.0
    a[-1:] *= (2.0, x)
    a[0, :] += [x, x * x]
    return np.sum(a * a * a)


def results_of_a_comprehension(x):
    rows = [np.ones(2) * x, np.arange(2.0) * x]
    return sum([bump(row) for row in rows]) * np.sum(rows[0]) + rows[1][0]


def items_of_list_slice(x):
    a = [[x], [2 * x]]
    b = a[:]
    b[0][0] = 5.0
    return a[0][0] * x


def items_of_list_copy(x):
    a = [[x], [2 * x]]
    b = list(a)
    b[0][0] = 5.0
    return a[0][0] * x


def changed_by_an_operator_and_read(x):
    a = np.arange(1.0, 4.0) * x
    return np.sum(halved(a) * a) + a[0]


def changed_by_an_operator_in_a_comprehension(x):
    rows = [np.ones(2) * x, np.arange(2.0) * x]
    total = sum([np.sum(steps(row)) for row in rows])
    return total * rows[0][0] + rows[1][1] + sum([steps(v) for v in (x, 2.0)])


def changed_by_an_operator_in_a_loop(x):
    a = np.arange(1.0, 5.0).reshape(2, 2) * x
    y = x
    for row in a:
        y += np.sum(steps(row)) * row[0] + steps(y) * y
    return y + np.sum(a)


def rows_swapped_as_views(x):
    a = np.arange(1.0, 7.0).reshape(3, 2) * x
    i, j = (0, 2)
    a[i], a[j] = (a[j], a[i])
    return np.sum(a[0] * 3 * x) + np.sum(a[2])


def rows_unpacked(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    r, s = a
    r[0] = x * x
    return np.sum(a * a)


def rows_unpacked_read(x):
    a = np.arange(1.0, 7.0).reshape(2, 3) * x
    r, s = a
    a[0, 0] = x * x
    return np.sum(r * r)


HELPERS = [
    "halved",
    "same",
    "top",
    "outer2",
    "outer4",
    "outer5",
    "again",
    "late",
    "bump",
    "clean",
    "half",
    "outer",
    "put",
    "rec",
    "ret",
    "scale",
    "steps",
    "swp",
]
FOLLOWED = [
    f
    for name, f in list(globals().items())
    if isinstance(f, types.FunctionType) and name not in HELPERS
]
