"""March one ray through a scene with a `while` and an early return, then all rays at once by vmap.

`trace` is written for one ray. Each ray takes as many steps as it needs: one that hits a surface
returns, one that flies past the scene leaves the loop. `overt.vmap` makes of it a function of a
batch of rays, each lane with its own number of steps; `overt.jit` compiles that.

The picture is the shading of three spheres on a floor. The gradient through the same loop says how
the shading of a pixel changes with the direction of the light.

    python examples/raymarch.py
"""

from __future__ import annotations

import overt
import overt.numpy as np

WIDTH, HEIGHT = 64, 26
SHADES = " .:-=+*#%@"
CENTERS = np.array([[-1.3, 0.0, 4.0], [0.3, 0.2, 3.2], [1.6, -0.2, 4.6]])
RADII = np.array([0.9, 0.6, 0.8])
LIGHT = np.array([-0.5, 0.8, -0.6])
FAR = 12.0


def distance(point):
    """The distance from a point to the nearest surface: spheres on a floor."""
    floor = point[1] + 1.0
    spheres = np.linalg.norm(point - CENTERS, axis=1) - RADII
    return np.minimum(floor, np.min(spheres))


def normal_at(point):
    """The direction in which the distance grows fastest."""
    n = overt.grad(distance)(point)
    return n / np.linalg.norm(n)


def trace(direction, light):
    """The brightness that one ray from the origin sees, from 0 to 1; 0 where it hits nothing."""
    travelled = 0.0
    while travelled < FAR:
        point = travelled * direction
        gap = distance(point)
        if gap < 1e-3:
            facing = np.dot(normal_at(point), light / np.linalg.norm(light))
            return 0.1 + 0.9 * np.maximum(facing, 0.0)
        travelled = travelled + gap
    return 0.0


def rays():
    """A unit direction for each character of the picture, row by row.

    Shapes: [HEIGHT * WIDTH, 3].
    """
    across, up = np.meshgrid(np.linspace(-1.0, 1.0, WIDTH), np.linspace(0.6, -0.6, HEIGHT))
    directions = np.stack([across, up, np.full_like(across, 1.4)], axis=-1).reshape(-1, 3)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def picture(brightness):
    """Characters for brightnesses between 0 and 1, in rows."""
    levels = np.clip((brightness * len(SHADES)).astype(int), 0, len(SHADES) - 1)
    rows = levels.reshape(HEIGHT, WIDTH).tolist()
    return "\n".join("".join(SHADES[level] for level in row) for row in rows)


def main():
    directions = rays()
    brightness = overt.jit(overt.vmap(trace, in_axes=(0, None)))(directions, LIGHT)
    print(picture(brightness))
    one = HEIGHT // 2 * WIDTH + WIDTH // 2
    assert np.allclose(brightness[one], trace(directions[one], LIGHT), atol=1e-4)
    assert float(np.mean(brightness == 0.0)) > 0.1  # the sky
    assert float(np.max(brightness)) > 0.9

    slope = overt.jit(overt.grad(trace, argnums=1))(directions[one], LIGHT)
    nudge = np.array([0.0, 0.01, 0.0])
    change = trace(directions[one], LIGHT + nudge) - trace(directions[one], LIGHT - nudge)
    print(f"raising the light by 0.01 brightens the middle by {0.01 * slope[1]:.5f}")
    assert np.allclose(slope[1], change / 0.02, atol=2e-3)


if __name__ == "__main__":
    main()
