// The arguments of each loss as config keys, apart from name, reduction and dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/losses/LossImpl.h"
#include "halftone/Losses.h"

namespace halftone::detail {

template <class Args> constexpr std::tuple lossFields{};
template <>
inline constexpr std::tuple lossFields<losses::CrossentropyArgs>{
    Field{"from_logits", &losses::CrossentropyArgs::from_logits},
    Field{"label_smoothing", &losses::CrossentropyArgs::label_smoothing},
    Field{"axis", &losses::CrossentropyArgs::axis}};
template <>
inline constexpr std::tuple lossFields<losses::SparseCrossentropyArgs>{
    Field{"from_logits", &losses::SparseCrossentropyArgs::from_logits},
    Field{"ignore_class", &losses::SparseCrossentropyArgs::ignore_class},
    Field{"axis", &losses::SparseCrossentropyArgs::axis}};
template <>
inline constexpr std::tuple lossFields<losses::BinaryFocalArgs>{
    Field{"from_logits", &losses::BinaryFocalArgs::from_logits},
    Field{"label_smoothing", &losses::BinaryFocalArgs::label_smoothing},
    Field{"axis", &losses::BinaryFocalArgs::axis},
    Field{"apply_class_balancing", &losses::BinaryFocalArgs::apply_class_balancing},
    Field{"alpha", &losses::BinaryFocalArgs::alpha},
    Field{"gamma", &losses::BinaryFocalArgs::gamma}};
template <>
inline constexpr std::tuple lossFields<losses::CategoricalFocalArgs>{
    Field{"from_logits", &losses::CategoricalFocalArgs::from_logits},
    Field{"label_smoothing", &losses::CategoricalFocalArgs::label_smoothing},
    Field{"axis", &losses::CategoricalFocalArgs::axis}, Field{"alpha", &losses::CategoricalFocalArgs::alpha},
    Field{"gamma", &losses::CategoricalFocalArgs::gamma}};
template <> inline constexpr std::tuple lossFields<losses::DiceArgs>{Field{"axis", &losses::DiceArgs::axis}};
template <>
inline constexpr std::tuple lossFields<losses::TverskyArgs>{Field{"alpha", &losses::TverskyArgs::alpha},
                                                            Field{"beta", &losses::TverskyArgs::beta},
                                                            Field{"axis", &losses::TverskyArgs::axis}};
template <>
inline constexpr std::tuple lossFields<losses::CircleArgs>{
    Field{"gamma", &losses::CircleArgs::gamma}, Field{"margin", &losses::CircleArgs::margin},
    Field{"remove_diagonal", &losses::CircleArgs::remove_diagonal}};

/// A LossImpl of the class `name` without a formula.
template <class Args> std::shared_ptr<LossImpl> lossImplOf(const Args &args, const char *name) {
  auto impl = std::make_shared<LossImpl>();
  impl->name = args.name.empty() ? name : args.name;
  requireNameInUtf8("The name of a loss", impl->name);
  impl->kind = name;
  impl->reduction = args.reduction;
  impl->dtype = dtypeOfArgument(args.dtype, impl->name);
  impl->addConfig = [args](Config &config) { writeFields(config, args, lossFields<Args>); };
  return impl;
}

} // namespace halftone::detail
