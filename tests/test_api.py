"""grad, jvp, vjp, Jacobians, vmap: signatures, trees and errors as JAX's users expect."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

import overt
import overt.numpy as np
from overt import ShapeDtypeStruct


def same(actual, expected, tol=1e-5):
    numpy.testing.assert_allclose(
        numpy.asarray(actual, float), numpy.asarray(expected, float), rtol=tol, atol=tol
    )


def same_tree(actual, expected, tol=1e-5):
    leaves, structure = overt.tree.flatten(actual)
    wanted, wanted_structure = overt.tree.flatten(expected)
    assert str(structure) == str(wanted_structure)
    for x, y in zip(leaves, wanted, strict=True):
        assert numpy.shape(x) == numpy.shape(y)
        same(x, y, tol)


# --- the package


def test_import_is_light():
    code = (
        "import overt, sys; "
        "assert not {'libcst', 'jaxlib', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_exist():
    for name in overt.__all__:
        assert getattr(overt, name) is not None
    assert set(overt.__all__) <= set(dir(overt))
    with pytest.raises(AttributeError, match="nonsense"):
        overt.nonsense  # noqa: B018


# --- grad


def loss(params, x, y):
    h = np.tanh(x @ params["w"] + params["b"])
    return np.mean((h - y) ** 2)


def arguments():
    rng = numpy.random.default_rng(0)
    params = {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2)}
    return params, rng.normal(size=(5, 3)), rng.normal(size=(5, 2))


def differences(f, args, i, step=1e-6):
    """The gradient of a function of NumPy arrays by central differences."""
    leaves, structure = overt.tree.flatten(args[i])
    leaves = [numpy.array(x, float) for x in leaves]
    found = []
    for x in leaves:
        g = numpy.zeros_like(x)
        for place in numpy.ndindex(x.shape):
            kept = x[place]
            ends = []
            for delta in (step, -step):
                x[place] = kept + delta
                new = [*args[:i], structure.unflatten(leaves), *args[i + 1 :]]
                ends.append(float(f(*new)))
            x[place] = kept
            g[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(g)
    return structure.unflatten(found)


def test_gradient_of_a_tree(x64):
    args = arguments()
    same_tree(overt.grad(loss)(*args), differences(loss, args, 0))
    same_tree(overt.jit(overt.grad(loss))(*args), differences(loss, args, 0))


def test_several_argnums(x64):
    args = arguments()
    grads = overt.grad(loss, argnums=(0, -1))(*args)
    assert isinstance(grads, tuple)
    same_tree(grads[0], differences(loss, args, 0))
    same_tree(grads[1], differences(loss, args, 2))
    same_tree(overt.grad(loss, argnums=(1,))(*args)[0], differences(loss, args, 1))


def test_value_and_aux(x64):
    args = arguments()

    def with_aux(params, x, y):
        return loss(params, x, y), {"size": x.shape, "sum": np.sum(x)}

    (value, aux), grads = overt.value_and_grad(with_aux, has_aux=True)(*args)
    same(value, loss(*args))
    assert aux["size"] == (5, 3)
    same(aux["sum"], args[1].sum())
    same_tree(grads, differences(loss, args, 0))
    grads, aux = overt.grad(with_aux, has_aux=True)(*args)
    grads, aux = overt.grad(with_aux, has_aux=True)(*args)
    same_tree(grads, differences(loss, args, 0))
    same(aux["sum"], args[1].sum())


def test_gradient_keeps_dtype_and_weakness():
    g = overt.grad(lambda x: x * x)
    assert g(2.0).dtype == numpy.float32 and g(2.0).weak_type
    assert g(np.float16(2.0)).dtype == numpy.float16
    assert overt.grad(lambda x, y: np.sum(x * y))(np.ones((2, 1)), np.ones(3)).shape == (2, 1)


def test_unused_and_untouched_arguments():
    same(overt.grad(lambda x, y: y)(1.0, 2.0), 0.0)
    same_tree(
        overt.grad(lambda p: p["a"])({"a": 1.0, "b": np.ones(2)}), {"a": 1.0, "b": numpy.zeros(2)}
    )


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: overt.grad(lambda x: x * x)(np.ones(3)),
            "scalar-output functions.*shape: \\(3,\\).*jacobian",
        ),
        (lambda: overt.grad(lambda x: x)(3), "real- or complex-valued inputs.*int32"),
        (lambda: overt.grad(lambda x: x * 1j)(3.0), "real-valued outputs.*complex64"),
        (lambda: overt.grad(lambda x: np.sum(x > 0))(3.0), "real-valued outputs.*int32"),
        (lambda: overt.grad(lambda x: x, holomorphic=True)(3.0), "complex dtype, but got float32"),
        (lambda: overt.grad(lambda x: (x, x))(3.0), "scalar-output functions"),
        (lambda: overt.grad(lambda x: x, argnums="a"), "argnums"),
        (lambda: overt.grad(3), "expected a function"),
    ],
)
def test_what_has_no_gradient(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_argnums_out_of_range():
    with pytest.raises(ValueError, match="argument 2"):
        overt.grad(lambda x: x, argnums=2)(1.0)


def test_integers_are_allowed_on_request():
    g = overt.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True)(2.0, 3)
    same(g[0], 3.0)
    assert g[1].dtype == overt.dtypes.float0


def test_holomorphic():
    same_complex = overt.grad(lambda z: z * z * z, holomorphic=True)(1.0 + 2.0j)
    numpy.testing.assert_allclose(numpy.asarray(same_complex), 3 * (1 + 2j) ** 2, rtol=1e-5)


def test_gradients_of_library_functions():
    same(overt.grad(np.sin)(0.5), numpy.cos(0.5))
    same(overt.grad(overt.nn.sigmoid)(0.0), 0.25)


def test_higher_orders():
    f = lambda x: np.sin(x) * x**2
    third = overt.grad(overt.grad(overt.grad(f)))
    x = 0.7
    want = -(x**2) * numpy.cos(x) - 6 * x * numpy.sin(x) + 6 * numpy.cos(x)
    same(third(x), want, 1e-4)
    same(overt.jit(third)(x), want, 1e-4)


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x**2)

    @overt.grad
    def slope(self, x):
        return self.w * x

    def __call__(self, x):
        return np.sum(self.w * x**3)


def test_methods_and_callable_objects():
    model = Model(2.0)
    same(overt.grad(model.loss)(np.array([1.0, 2.0])), [4.0, 8.0])
    same(overt.grad(model)(np.array([1.0, 2.0])), [6.0, 24.0])
    model.w = 3.0
    same(overt.grad(model.loss)(np.array([1.0, 2.0])), [6.0, 12.0])


# --- jvp, vjp, linearize


def mixed(x, y):
    return {"a": np.sin(x) * y, "n": x.shape[0], "b": (x[0] * y, np.argmax(x))}


def test_jvp_of_trees(x64):
    x, y = numpy.arange(1.0, 4.0), 2.0
    out, dot = overt.jvp(lambda x, y: {"a": np.sin(x) * y, "b": [x[0] * y]}, (x, y), (x, 1.0))
    same(dot["a"], numpy.cos(x) * x * y + numpy.sin(x))
    same(dot["b"][0], 1.0 * y + 1.0)
    same(out["a"], numpy.sin(x) * y)


def test_jvp_with_aux():
    out, dot, aux = overt.jvp(lambda x: (x * x, x + 1), (3.0,), (1.0,), has_aux=True)
    same([out, dot, aux], [9.0, 6.0, 4.0])


@pytest.mark.parametrize(
    "primals, tangents, kind, message",
    [
        (1.0, 1.0, TypeError, "tuples or lists"),
        ((1.0,), (1.0, 2.0), TypeError, "same tree structure"),
        ((1.0,), (1,), TypeError, "dtypes must be equal"),
        ((1.0,), (np.ones(3),), ValueError, "different primal and tangent shapes"),
        ((1,), (1,), TypeError, "float0"),
    ],
)
def test_tangents_must_belong_to_primals(primals, tangents, kind, message):
    with pytest.raises(kind, match=message):
        overt.jvp(lambda x: x, primals, tangents)


def test_vjp_of_trees(x64):
    x, y = numpy.arange(1.0, 4.0), 2.0
    out, pullback = overt.vjp(lambda x, y: {"a": np.sin(x) * y, "b": [x[0] * y]}, x, y)
    x_bar, y_bar = pullback({"a": numpy.ones(3), "b": [2.0]})
    same(x_bar, numpy.cos(x) * y + [2.0 * y, 0, 0])
    same(y_bar, numpy.sin(x).sum() + 2.0 * x[0])
    with pytest.raises(ValueError, match="tree structure"):
        pullback((1.0,))
    with pytest.raises(ValueError, match="shape/dtype"):
        pullback({"a": numpy.ones(2), "b": [2.0]})


def test_vjp_with_aux_and_linearize():
    out, pullback, aux = overt.vjp(lambda x: (x * x, x + 1), 3.0, has_aux=True)
    same([out, aux, pullback(1.0)[0]], [9.0, 4.0, 6.0])
    out, f_dot = overt.linearize(lambda x, y: x * y, 3.0, 4.0)
    same([out, f_dot(1.0, 0.0), f_dot(0.0, 1.0)], [12.0, 4.0, 3.0])


def test_derivatives_through_control_flow_and_stores():
    def f(x):
        y = np.zeros(3)
        n = 0
        while n < 3:
            y[n] = x * (n + 1)
            n += 1
        if x > 1:
            return np.sum(y**2)
        return np.sum(y)

    same(overt.jvp(f, (2.0,), (1.0,))[1], 2 * 2.0 * 14)
    same(overt.vjp(f, 0.5)[1](1.0)[0], 6.0)
    same(overt.jit(lambda x: overt.jvp(f, (x,), (1.0,))[1])(2.0), 56.0)


# --- Jacobians


def test_jacobians_of_arrays(x64):
    f = lambda x: np.array([x[0] * x[1], np.sin(x[2]), x[0] ** 3, 1.0])
    x = numpy.array([1.0, 2.0, 3.0])
    want = [[2.0, 1.0, 0.0], [0, 0, numpy.cos(3.0)], [3.0, 0, 0], [0, 0, 0]]
    for jacobian in (overt.jacfwd(f), overt.jacrev(f), overt.jit(overt.jacrev(f))):
        same(jacobian(x), want)
    assert overt.jacobian is overt.jacrev


def test_jacobians_of_trees(x64):
    f = lambda p, s: {"u": p["a"] * s, "v": (np.sum(p["b"]) * p["a"],)}
    p = {"a": numpy.ones(2), "b": numpy.ones((2, 3))}
    for kind in (overt.jacfwd, overt.jacrev):
        jac = kind(f)(p, 2.0)
        same(jac["u"]["a"], 2 * numpy.eye(2))
        assert jac["v"][0]["b"].shape == (2, 2, 3)
        same(jac["v"][0]["b"], numpy.ones((2, 2, 3)))
        pair = kind(f, argnums=(0, 1))(p, 2.0)
        same(pair["u"][1], numpy.ones(2))


def test_hessian(x64):
    f = lambda x: np.sum(x**3) + x[0] * x[1]
    x = numpy.array([1.0, 2.0, 3.0])
    want = numpy.diag(6 * x) + [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    same(overt.hessian(f)(x), want)
    same(overt.jit(overt.hessian(f))(x), want)
    tree = overt.hessian(lambda p: np.sum(p["a"] ** 2 * p["b"]))({"a": x, "b": x})
    same(tree["a"]["b"], numpy.diag(2 * x))


# --- vmap


def test_vmap_axes_and_trees():
    x = numpy.arange(12.0).reshape(3, 4)
    same(overt.vmap(np.sum)(x), x.sum(1))
    same(overt.vmap(np.sum, in_axes=1)(x), x.sum(0))
    same(overt.vmap(np.sum, in_axes=-1)(x), x.sum(0))
    same(overt.vmap(lambda v: v * 2, out_axes=1)(x), 2 * x.T)
    same(overt.vmap(lambda v: v * 2, out_axes=-1)(x), 2 * x.T)
    f = lambda d, s: (d["a"] * s, d["b"])
    out = overt.vmap(f, in_axes=({"a": 0, "b": None}, None), out_axes=(0, None))(
        {"a": x, "b": 1.0}, 2.0
    )
    same(out[0], 2 * x)
    same(out[1], 1.0)
    same(overt.vmap(lambda v, *, k: v + k)(x, k=numpy.arange(3.0)), x + numpy.arange(3.0)[:, None])
    same(overt.vmap(lambda: np.ones(2), axis_size=3, in_axes=())(), numpy.ones((3, 2)))


def test_vmap_errors():
    with pytest.raises(ValueError, match="inconsistent sizes"):
        overt.vmap(lambda x, y: x)(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match="at least one non-None"):
        overt.vmap(lambda x: x, in_axes=None)(np.ones(2))
    with pytest.raises(TypeError, match="in_axes"):
        overt.vmap(lambda x: x, in_axes="a")
    with pytest.raises(ValueError, match="rank should be at least 1"):
        overt.vmap(lambda x: x)(1.0)


def test_vmap_of_control_flow():
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n
                n = n + 1
            steps += 1
        return steps

    same(overt.vmap(collatz)(np.arange(1, 8)), [0, 1, 7, 2, 5, 8, 16])
    same(overt.jit(overt.vmap(collatz))(np.arange(1, 8)), [0, 1, 7, 2, 5, 8, 16])


def test_vmap_and_derivatives_in_every_order(x64):
    f = lambda w, x: np.sum(np.tanh(w * x) ** 2)
    w, xs = numpy.arange(1.0, 4.0), numpy.linspace(0.1, 1.0, 6).reshape(2, 3)
    rows = numpy.stack([differences(f, (w, x), 0) for x in xs])
    same(overt.vmap(overt.grad(f), in_axes=(None, 0))(w, xs), rows)
    same(overt.jit(overt.vmap(overt.grad(f), in_axes=(None, 0)))(w, xs), rows)
    total = overt.grad(lambda w, xs: np.sum(overt.vmap(f, in_axes=(None, 0))(w, xs)))
    same(total(w, xs), rows.sum(0))
    same(overt.jit(total)(w, xs), rows.sum(0))


# --- custom derivatives and other functions


def test_custom_rules_in_every_mode():
    @overt.custom_jvp
    def f(x):
        return np.sin(x) if x > 0 else x

    @f.defjvp
    def f_jvp(primals, tangents):
        return f(*primals), 10.0 * tangents[0]

    @overt.custom_vjp
    def g(x):
        return x * x

    g.defvjp(lambda x: (g(x), x), lambda x, bar: (100.0 * bar,))
    for h, want in ((f, 10.0), (g, 100.0)):
        same(overt.grad(lambda x: 1.0 * h(x))(2.0), want)  # noqa: B023
        same(overt.jit(overt.grad(lambda x: 1.0 * h(x)))(2.0), want)  # noqa: B023
        same(overt.vmap(overt.grad(h))(np.array([1.0, 2.0])), [want, want])
    same(overt.jit(f)(-3.0), -3.0)


def test_checkpoint():
    f = overt.checkpoint(lambda x: np.sin(np.sin(x)))
    same(f(1.0), numpy.sin(numpy.sin(1.0)))
    same(overt.grad(f)(1.0), numpy.cos(numpy.sin(1.0)) * numpy.cos(1.0))


def test_stop_gradient():
    same(overt.grad(lambda x: x * overt.stop_gradient(x))(3.0), 3.0)


def test_trees_on_devices():
    x = overt.device_put({"a": 1.0, "b": [numpy.ones(2)]}, overt.devices()[0])
    assert x["a"].committed and x["b"][0].devices() == {overt.devices()[0]}
    back = overt.device_get(overt.block_until_ready(x))
    assert isinstance(back["b"][0], numpy.ndarray)
    assert overt.default_backend() == "cpu" and overt.device_count() >= 1


def test_callbacks():
    seen = []
    shape = ShapeDtypeStruct((3,), np.float32)

    def f(x):
        overt.debug.callback(lambda v: seen.append(float(v[0])), x)
        return overt.pure_callback(lambda v: numpy.sin(v).astype("float32"), shape, x)

    x = np.arange(3.0)
    same(overt.jit(f)(x), numpy.sin(numpy.arange(3.0)))
    same(f(x), numpy.sin(numpy.arange(3.0)))
    assert seen == [0.0, 0.0]


def test_source_is_a_module():
    def f(x):
        if x > 0:
            return x * x
        return -x

    for transformed in (overt.grad(f), overt.jit(f), overt.value_and_grad(f), overt.vmap(f)):
        text = overt.source(transformed)
        compile(text, "generated", "exec")
        assert "def f_" in text
    assert "cond" in overt.source(overt.jit(f))
    with pytest.raises(TypeError, match="overt.source needs"):
        overt.source(3)


def test_breakpoint_inside_a_program(tmp_path):
    script = tmp_path / "stop.py"
    script.write_text(
        "import overt, overt.numpy as np\n"
        "@overt.jit\n"
        "def f(x):\n"
        "    y = np.sin(x)\n"
        "    overt.debug.breakpoint()\n"
        "    return y * 2\n"
        "print('result', f(2.0))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], input="p y\nl\nbt\nc\n", capture_output=True, text=True
    )
    assert "0.909" in done.stdout and "->" in done.stdout and "result 1.818" in done.stdout
    assert f"{script}(5)f()\n-> overt.debug.breakpoint()" in done.stdout
