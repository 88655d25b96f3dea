"""The vocabulary below NumPy's: strict elementwise functions, explicit axes, control flow.

Nothing here promotes dtypes or ranks: operands that differ are an error, not a guess.
"""

from typing import TYPE_CHECKING

from overt.runtime.later import found_later, places_of

if TYPE_CHECKING:
    from overt.runtime.lax.collectives import *
    from overt.runtime.lax.conv_shapes import *
    from overt.runtime.lax.convert import *
    from overt.runtime.lax.convolution import *
    from overt.runtime.lax.fourier import *
    from overt.runtime.lax.kinds import *
    from overt.runtime.lax.linear_solves import *
    from overt.runtime.lax.loops import *
    from overt.runtime.lax.products import *
    from overt.runtime.lax.ragged import *
    from overt.runtime.lax.random_bits import *
    from overt.runtime.lax.reductions import *
    from overt.runtime.lax.roots import *
    from overt.runtime.lax.scattering import *
    from overt.runtime.lax.shapes import *
    from overt.runtime.lax.slicing import *
    from overt.runtime.lax.sorting import *
    from overt.runtime.lax.strict import *

_PLACES = places_of(
    __name__,
    {
        "collectives": "all_gather all_to_all axis_index axis_size pbroadcast pmax pmean pmin "
        "ppermute pshuffle psum psum_scatter pswapaxes",
        "convert": "bitcast_convert_type convert_element_type dtype reduce_precision stop_gradient",
        "conv_shapes": "ConvGeneralDilatedDimensionNumbers conv_general_dilated_local "
        "conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
        "conv_transpose_shape_tuple reduce_window_shape_tuple",
        "convolution": "ConvDimensionNumbers conv conv_dimension_numbers "
        "conv_general_dilated conv_general_dilated_patches conv_transpose "
        "conv_with_general_padding",
        "fourier": "fft",
        "kinds": "AccuracyMode DotAlgorithm DotAlgorithmPreset DotDimensionNumbers FftType "
        "Precision PrecisionLike RaggedDotDimensionNumbers RoundingMethod Tolerance",
        "linear_solves": "custom_linear_solve",
        "loops": "associative_scan cond fori_loop map scan switch while_loop",
        "passing": "after_all composite create_token dce_sink optimization_barrier "
        "platform_dependent shape_as_value stage",
        "products": "batch_matmul dot dot_general",
        "ragged": "ragged_dot ragged_dot_general scaled_dot",
        "roots": "custom_root",
        "random_bits": "RandomAlgorithm rng_bit_generator rng_uniform",
        "reductions": "argmax argmin cumlogsumexp cummax cummin cumprod cumsum "
        "padtype_to_pads reduce reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum "
        "reduce_window reduce_xor",
        "scattering": "GatherDimensionNumbers GatherScatterMode ScatterDimensionNumbers "
        "gather scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul scatter_sub",
        "shapes": "broadcast broadcast_in_dim broadcast_like broadcast_shapes broadcast_to_rank "
        "broadcasted_iota collapse concatenate empty expand_dims full full_like iota pad reshape "
        "rev split squeeze stack tile transpose unstack",
        "slicing": "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim "
        "dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim index_in_dim "
        "index_take slice slice_in_dim",
        "sorting": "approx_max_k approx_min_k sort sort_key_val top_k",
        "strict": "abs acos acosh add asin asinh atan atan2 atanh bessel_i0e bessel_i1e betainc "
        "bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil clamp clz complex conj cos cosh "
        "digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igamma_grad_a igammac "
        "imag integer_pow is_finite le lgamma log log1p logistic lt max min mul mulhi ne neg "
        "nextafter polygamma population_count pow random_gamma_grad real reciprocal rem round "
        "rsqrt select select_n shift_left shift_right_arithmetic shift_right_logical sign sin "
        "sinh sqrt square sub tan tanh zeta",
    },
)
__all__ = list(_PLACES)
__getattr__, __dir__ = found_later(globals(), _PLACES | {"linalg": f"{__name__}.linalg"})
