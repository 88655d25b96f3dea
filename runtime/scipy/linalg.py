"""`scipy.linalg`: its names and the module of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overt.runtime.later import found_later, places_of

if TYPE_CHECKING:
    from overt.runtime.scipy.linear_systems import *  # noqa: F403
    from overt.runtime.scipy.matrix_factors import *  # noqa: F403
    from overt.runtime.scipy.matrix_functions import *  # noqa: F403
    from overt.runtime.scipy.special_matrices import *  # noqa: F403

_PLACES = places_of(
    "overt.runtime.scipy",
    {
        "linear_systems": "cho_factor cho_solve cholesky det inv lu lu_factor lu_solve solve "
        "solve_triangular",
        "matrix_factors": "eigh eigh_tridiagonal hessenberg polar qr qr_multiply rsf2csf schur svd",
        "matrix_functions": "expm expm_frechet funm solve_sylvester sqrtm",
        "special_matrices": "block_diag circulant companion convolution_matrix dft fiedler "
        "fiedler_companion hadamard hankel helmert hilbert invhilbert invpascal leslie pascal "
        "toeplitz",
    },
)
__all__ = list(_PLACES)
__getattr__, __dir__ = found_later(globals(), _PLACES)
