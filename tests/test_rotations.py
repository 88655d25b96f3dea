"""Rotations as SciPy's, with derivatives and over lanes."""

from __future__ import annotations

import numpy
import pytest
from numeric import check_batch, check_derivatives
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as TheirRotation
from scipy.spatial.transform import Slerp as TheirSlerp

import overt
import overt.numpy as np
from overt.scipy.spatial.transform import Rotation, Slerp

RNG = numpy.random.default_rng(0)
QUATERNIONS = RNG.normal(size=(6, 4))
VECTORS = RNG.normal(size=(6, 3))
pytestmark = pytest.mark.usefixtures("x64")


def pairs(quat=QUATERNIONS):
    return Rotation.from_quat(quat), TheirRotation.from_quat(quat)


def same(ours, theirs):
    """Equal rotations: a quaternion and its opposite are the same."""
    assert_allclose(ours.as_matrix(), theirs.as_matrix(), atol=1e-12)


def test_representations_as_scipy():
    for quat in (QUATERNIONS, QUATERNIONS[0]):
        ours, theirs = pairs(quat)
        for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
            assert_allclose(getattr(ours, name)(), getattr(theirs, name)(), atol=1e-12)
        assert_allclose(ours.as_quat(True), theirs.as_quat(canonical=True), atol=1e-12)
        wanted = theirs.as_quat(scalar_first=True)
        assert_allclose(ours.as_quat(scalar_first=True), wanted, atol=1e-12)
        assert_allclose(ours.as_rotvec(degrees=True), theirs.as_rotvec(degrees=True), atol=1e-9)
        for name, x in (("from_matrix", theirs.as_matrix()), ("from_mrp", theirs.as_mrp()),
                        ("from_rotvec", theirs.as_rotvec())):  # fmt: skip
            same(getattr(Rotation, name)(x), theirs)
    turns = numpy.array([[3.0, 0, 0], [0, 3.1, 0], [0, 0, -3.1], [1e-5, 0, 0], [0, 0, 0]])
    same(Rotation.from_rotvec(turns), TheirRotation.from_rotvec(turns))
    same(Rotation.from_matrix(TheirRotation.from_rotvec(turns).as_matrix()),
         TheirRotation.from_rotvec(turns))  # fmt: skip
    assert_allclose(Rotation.from_rotvec(turns).as_rotvec(), turns, atol=1e-12)


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "YXY"])
def test_euler_angles_as_scipy(seq):
    ours, theirs = pairs()
    assert_allclose(ours.as_euler(seq), theirs.as_euler(seq), atol=1e-12)
    angles = theirs.as_euler(seq, degrees=True)
    same(Rotation.from_euler(seq, angles, degrees=True), theirs)
    for some, given in ((seq[:2], angles[:, :2]), (seq[0], angles[:, :1]), (seq[0], 0.3)):
        same(Rotation.from_euler(some, given), TheirRotation.from_euler(some, given))
    symmetric = seq[0] == seq[2]
    lock = [0.3, 0.0 if symmetric else numpy.pi / 2, 0.4]
    found = Rotation.from_euler(seq, lock).as_euler(seq)
    assert_allclose(found[2], 0)
    same(Rotation.from_euler(seq, found), TheirRotation.from_euler(seq, lock))


def test_products_and_sequences_as_scipy():
    ours, theirs = pairs()
    other, their_other = pairs(QUATERNIONS[::-1])
    same(ours * other, theirs * their_other)
    same(ours[1] * other, theirs[1] * their_other)
    same(ours.inv(), theirs.inv())
    assert_allclose(ours.apply(VECTORS), theirs.apply(VECTORS), atol=1e-12)
    assert_allclose(ours.apply(VECTORS[0], True), theirs.apply(VECTORS[0], True), atol=1e-12)
    assert_allclose(ours[2].apply(VECTORS), theirs[2].apply(VECTORS), atol=1e-12)
    same(ours.mean(), theirs.mean())
    weights = numpy.arange(1.0, 7)
    same(ours.mean(weights), theirs.mean(weights))
    assert len(ours) == 6 and ours[0].single and not ours[1:3].single
    same(Rotation.concatenate([ours[:2], ours[3]]), theirs[[0, 1, 3]])
    same(Rotation.identity(2), TheirRotation.identity(2))
    with pytest.raises(TypeError, match="single"):
        len(ours[0])


def test_random_rotations_are_uniform():
    found = Rotation.random(overt.random.key(0), 4000)
    assert_allclose(numpy.linalg.norm(found.quat, axis=1), 1)
    moved = numpy.asarray(found.apply(numpy.array([1.0, 0, 0])))
    assert_allclose(moved.mean(0), 0, atol=0.04)
    assert_allclose(moved.T @ moved / 4000, numpy.eye(3) / 3, atol=0.03)
    assert Rotation.random(overt.random.key(0)).single


def test_ways_as_scipy():
    ours, theirs = pairs()
    times = numpy.array([0.0, 1, 2.5, 3, 4, 6])
    asked = numpy.array([0.0, 0.4, 2.7, 3.0, 5.5, 6.0])
    same(Slerp.init(times, ours)(asked), TheirSlerp(times, theirs)(asked))
    way = Slerp.init(times, ours)
    jitted = overt.jit(lambda t: way(t).as_matrix())(asked)
    assert_allclose(jitted, TheirSlerp(times, theirs)(asked).as_matrix(), atol=1e-12)
    with pytest.raises(ValueError, match="two rotations"):
        Slerp.init([0.0], ours[0])
    with pytest.raises(ValueError, match="times"):
        Slerp.init([0.0, 1.0], ours)


def test_derivatives_and_lanes():
    def there(quat, vectors):
        return Rotation.from_quat(quat).apply(vectors)

    check_derivatives(there, QUATERNIONS[:2], VECTORS[:2])
    check_derivatives(lambda q: Rotation.from_quat(q).as_euler("xyz"), QUATERNIONS[:2])
    check_derivatives(lambda v: Rotation.from_rotvec(v).as_rotvec(), VECTORS[:2] / 4)
    check_derivatives(lambda m: Rotation.from_matrix(m).as_quat(), numpy.eye(3) + VECTORS[:3] / 9)
    check_batch(lambda q, v: there(q, v), QUATERNIONS[:2], VECTORS[:2])

    def passed(angle, t):
        way = Slerp.init(np.array([0.0, 1.0]), Rotation.from_euler("z", np.stack([0.1, angle])))
        return way(t).as_rotvec()[2]

    for grad in (overt.grad(passed, (0, 1)), overt.jit(overt.grad(passed, (0, 1)))):
        assert_allclose(grad(0.7, 0.25), (0.25, 0.6), rtol=1e-9)
    at_rest = overt.grad(lambda v: Rotation.from_rotvec(v).apply(np.array([0.0, 1, 0]))[2])
    assert_allclose(at_rest(numpy.zeros(3)), [1, 0, 0])


def test_shapes_are_checked():
    for wrong, text in (
        (lambda: Rotation.from_quat(numpy.ones(3)), "quaternion"),
        (lambda: Rotation.from_matrix(numpy.ones((2, 3))), "matrix"),
        (lambda: Rotation.from_euler("xx", [1.0, 2.0]), "alike"),
        (lambda: Rotation.from_euler("xy", [1.0, 2.0, 3.0]), "angles"),
        (lambda: Rotation.from_euler("xY", [1.0, 2.0]), "axes"),
        (lambda: Rotation.from_quat(numpy.ones(4)).as_euler("xy"), "three axes"),
        (lambda: Rotation.from_quat(numpy.ones(4)).apply(numpy.ones(2)), "vector"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
