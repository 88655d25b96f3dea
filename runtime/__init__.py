"""What generated code calls: arrays, primitives with all their rules, NumPy, random numbers.

Names are found when they are first asked for, so importing one part does not import all.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "handled": "caught is_ended unended",
    "collecting": "collected sum_",
    "containers": "appended at changed in_place is_mapping is_sequence no_deep_items "
    "no_inner_items no_items no_parts no_slices no_twins no_views no_views_in not_kept popped "
    "unshared unshared_values",
    "apartness": "apart apart_arrays apart_arrays_in apart_containers apart_held apart_inside "
    "apart_items apart_values apart_views apart_views_in held_at held_once item_once items_once "
    "no_copies not_chosen not_one_of own_array unshared_item unshared_parts",
    "branches": "cond",
    "control": "for_loop loop_enumerate loop_range loop_reversed loop_zip while_loop",
    "guards": "guard",
    "heaps": "order_after",
    "saved": "Saved",
    "interop": "snapshot",
    "undefined": "Undefined",
    "cotangents": "chosen head_of joined kept_items merged merged_dots packed part place_field "
    "rows rows_backwards spare spread_over added_up tail_of taken_over with_items without_last",
    "derivatives": "add fitted fresh materialize ones_like_tree spread_to sum_to zeros_like_tree",
    "jacobians": "columns_of rows_of",
    "lanes": "Lanes",
    "masks": "active_lanes on_lanes",
    "outside": "change_there containers_only keep_array_in keep_in no_container "
    "not_of_tuple put_contents put_item stored_in",
    "numpy.indexing": "add_at erase getitem place put_back returned set_item taken withdrawn",
    "arranging": "all_taken chosen_item count_in folded order_without picked place_in put_in_place "
    "repetition set_all spread_item unfilled",
    "plain_builtins": "in_order partitioned without_item",
    "viewing": "changed_too erased_where_view item_again kept_where_copy kept_where_number "
    "placed_where_item placed_where_view read_again stored_back taken_where_view where_mutable "
    "where_number",
    "numpy.exchange": "exchange",
    "numpy.arithmetic": "power_slope",
    "lax.banded": "before behind solve_tridiagonal transposed_solve tridiagonal_product",
    "lax.convert": "reduce_precision",
    "lax.convolution": "convolve image_cotangent kernel_cotangent",
    "lax.linalg": "no_derivative_of_vectors pivoted_qr_bar pivoted_qr_tangents",
    "lax.passing": "barrier",
    "lax.polar": "polar_dot",
    "lax.rows": "earlier_records last_record records_of stacked",
    "lax.slicing": "slice_at store_at",
    "lax.symmetric": "update_dot",
    "one_of": "is_same",
    "some_of": "holds is_kind kind_of of_kind",
    "nn": "SELU_ALPHA SELU_SCALE sigmoid",
    "numpy.convolution": "convolve_bar",
    "numpy.diagonals": "diag_back on_diagonal on_trace",
    "numpy.einstein_sums": "einsum_back einsum_bar reached_by",
    "numpy.factor_derivatives": "cholesky_bar cholesky_dot eig_bar eig_dot eigh_bar eigh_dot "
    "lu_bar lu_dot mirrored mT on_triangle over_gaps singular_values_bar singular_values_dot "
    "svd_bar svd_dot transposed triangular_bar_a triangular_bar_y",
    "numpy.fft": "fft_bar fourier_back ifft_bar irfft_bar rfft_bar",
    "numpy.gather_scatter": "gather pick scatter scatter_jvp scatter_vjp store without",
    "numpy.joining": "unconcatenate unstack_like",
    "numpy.linalg": "cofactors eigvalsh_bar eigvalsh_dot matrix_power_bar pinv_bar pinv_dot qr_bar "
    "qr_tangent slogdet_bar slogdet_dot solve_bar_a solve_bar_b solve_dot svd_back",
    "numpy.movement": "pieces_of unbroadcast unpad",
    "numpy.norms": "euclidean_bar euclidean_dot matrix_norm_bar norm_bar norm_dot vector_norm_bar",
    "numpy.products": "contract contract_bar inner_bar_x inner_bar_y outer_bar_x outer_bar_y "
    " dot_bar_x dot_bar_y matmul_bar_x matmul_bar_y "
    "swapped tensordot_bar_x tensordot_bar_y",
    "numpy.repeating": "pad_back pad_of_tangent repeat_back tile_back unrepeat",
    "numpy.selected_functions": "length",
    "numpy.selecting": "along_axis_back take_back",
    "numpy.shaping": "negated rollaxis_back shifted transpose_back",
    "numpy.sorting": "sorted_like unsort unsorted",
    "random.gammas": "log_slope",
    "records": "read_record write_record",
    "updates": "added_at as_meant from_part got_at part_at part_dot place_at set_at taken_at "
    "update_bar update_dot",
    "numpy.creation": "array_bar array_of_tangents astype_bar astype_dot parts_like",
    "numpy.cumulative": "carried_from_records pulled_through_products pulled_to_records "
    "pushed_through_products running_sum",
    "numpy.elementwise": "share share2 unit_part",
    "numpy.moments": "deviation of_freedom over_deviation relative_dot",
    "numpy.reducing": "count divided max_bar min_bar narrow product_of_others reduce_sum ties "
    "unreduce wide",
    "numpy.rounding": "direction",
    "numpy.selection": "at_lower at_upper clip_tangent inside",
    "numpy.trigonometry": "circle_inverse",
    "numpy.vector_products": "cross_bar_x cross_bar_y kron_bar_x kron_bar_y",
    "numpy.zeros": "is_lost kept over reached times times_both unless_zero",
    "scipy.bessel": "i1 i1e slope_of_i1 slope_of_i1e slopes_of_bessel_jn",
    "scipy.bessel_orders": "iv iv_by_order ive ive_along j0 j1 jn order_over quotient_at_zero "
    "slope_by_orders y0 y1 yn",
    "scipy.error_functions": "no_derivative",
    "scipy.faddeeva": "slope_of_dawsn slope_of_erfcx slope_of_log_ndtr",
    "scipy.gamma_functions": "digamma hurwitz_zeta polygamma slope_of_rgamma",
    "scipy.hypergeometric": "hyp1f1 hyp1f1_along hyp2f1 hyp2f1_along",
    "scipy.optimize": "refused_in_reverse",
    "scipy.matrix_functions": "expm_along real_as solve_sylvester sylvester_back",
    "scipy.incomplete": "beta_density betainc_along gamma_density gammainc_along gammainc_by_a",
    "scipy.integrals": "slope_of_expn slope_of_owens_t slope_of_spence",
    "scipy.special": "expit quotient",
    "scipy.stats.heavy_tails": "student_by_df student_density",
    "scipy.incomplete_slopes": "igamma_grad_a random_gamma_grad",
    "risks": "is_zero lacks raises",
    "scalars": "is_a is_false is_true",
    "staged_builtins": "all_ any_ bool_ check complex_ float_ in_turn int_ max_ min_ once_a_call "
    "print_ raise_if round_ sorted_",
    "tables": "item_of",
    "tangents": "field_dot items_dot keys_dot place_field_dot tangent_for updated zero_dot",
    "texts": "formatted text",
    "truth": "and_ if_else not_ or_",
    "unsure": "has_attribute is_none",
    "vectors": "any_lane batched",
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names.split()}

# What only the layer above can do: rewriting what a name turns out to be when the code runs.
_HOOKS = {"lifted": "transformed", "vjp_of": "calls", "jvp_of": "tangent_calls"}
_HOOKS["lifted_attribute"] = _HOOKS["special_form"] = "lifting"
_HOOKS["vmap"] = "vectorize"


def __getattr__(name: str) -> Any:
    module = _PLACES.get(name)
    if module is not None:
        value = getattr(importlib.import_module(f"overt.runtime.{module}"), name)
        globals()[name] = value
        return value
    if name == "np":
        return importlib.import_module("overt.runtime.numpy")
    if name in _HOOKS:
        return getattr(importlib.import_module(f"overt.transformer.{_HOOKS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES, *_HOOKS, "np"])
