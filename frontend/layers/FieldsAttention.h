// The arguments of attention layers as config keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"

namespace halftone::detail {

struct MultiHeadAttentionOptions : layers::MultiHeadAttentionArgs {
  int64_t numHeads = 0, keyDim = 0;
  Layer layer() const { return layers::MultiHeadAttention(numHeads, keyDim, *this); }
};
struct GroupQueryAttentionOptions : layers::GroupQueryAttentionArgs {
  int64_t headDim = 0, numQueryHeads = 0, numKeyValueHeads = 0;
  Layer layer() const { return layers::GroupQueryAttention(headDim, numQueryHeads, numKeyValueHeads, *this); }
};
using AttentionOptions = PlainOptions<layers::Attention, layers::AttentionArgs>;
using AdditiveAttentionOptions = PlainOptions<layers::AdditiveAttention, layers::AdditiveAttentionArgs>;

template <> inline constexpr bool passesMask<MultiHeadAttentionOptions> = true;
template <> inline constexpr bool passesMask<GroupQueryAttentionOptions> = true;
template <> inline constexpr size_t mostInputs<MultiHeadAttentionOptions> = 3;
template <> inline constexpr size_t mostInputs<GroupQueryAttentionOptions> = 3;
template <> inline constexpr size_t mostInputs<AttentionOptions> = 3;
template <> inline constexpr size_t mostInputs<AdditiveAttentionOptions> = 3;
template <> inline constexpr bool passesMask<AttentionOptions> = true;
template <> inline constexpr bool passesMask<AdditiveAttentionOptions> = true;

/// The fields of the projections, which are last in the list of a layer with heads.
template <class Options>
constexpr std::tuple projectionFields{Field{"kernel_initializer", &Options::kernel_initializer},
                                      Field{"bias_initializer", &Options::bias_initializer},
                                      Field{"kernel_regularizer", &Options::kernel_regularizer},
                                      Field{"bias_regularizer", &Options::bias_regularizer},
                                      Field{"activity_regularizer", &Options::activity_regularizer},
                                      Field{"kernel_constraint", &Options::kernel_constraint},
                                      Field{"bias_constraint", &Options::bias_constraint},
                                      Field{"seed", &Options::seed}};

template <>
inline constexpr std::tuple layerFields<MultiHeadAttentionOptions> =
    std::tuple_cat(std::tuple{Field{"num_heads", &MultiHeadAttentionOptions::numHeads, Presence::required},
                              Field{"key_dim", &MultiHeadAttentionOptions::keyDim, Presence::required},
                              Field{"value_dim", &MultiHeadAttentionOptions::value_dim},
                              Field{"dropout", &MultiHeadAttentionOptions::dropout},
                              Field{"use_bias", &MultiHeadAttentionOptions::use_bias},
                              Field{"use_gate", &MultiHeadAttentionOptions::use_gate},
                              ListField{"output_shape", &MultiHeadAttentionOptions::output_shape},
                              ListField{"attention_axes", &MultiHeadAttentionOptions::attention_axes},
                              Field{"sliding_window", &MultiHeadAttentionOptions::sliding_window}},
                   projectionFields<MultiHeadAttentionOptions>);
template <>
inline constexpr std::tuple layerFields<GroupQueryAttentionOptions> = std::tuple_cat(
    std::tuple{Field{"head_dim", &GroupQueryAttentionOptions::headDim, Presence::required},
               Field{"num_query_heads", &GroupQueryAttentionOptions::numQueryHeads, Presence::required},
               Field{"num_key_value_heads", &GroupQueryAttentionOptions::numKeyValueHeads, Presence::required},
               Field{"use_bias", &GroupQueryAttentionOptions::use_bias},
               Field{"use_gate", &GroupQueryAttentionOptions::use_gate},
               Field{"sliding_window", &GroupQueryAttentionOptions::sliding_window},
               Field{"dropout", &GroupQueryAttentionOptions::dropout}},
    projectionFields<GroupQueryAttentionOptions>);
template <>
inline constexpr std::tuple layerFields<AttentionOptions>{
    Field{"use_scale", &layers::AttentionArgs::use_scale}, Field{"score_mode", &layers::AttentionArgs::score_mode},
    Field{"dropout", &layers::AttentionArgs::dropout}, Field{"seed", &layers::AttentionArgs::seed}};
template <>
inline constexpr std::tuple layerFields<AdditiveAttentionOptions>{
    Field{"use_scale", &layers::AdditiveAttentionArgs::use_scale},
    Field{"dropout", &layers::AdditiveAttentionArgs::dropout}, Field{"seed", &layers::AdditiveAttentionArgs::seed}};

} // namespace halftone::detail
