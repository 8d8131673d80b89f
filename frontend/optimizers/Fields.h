// The arguments of each optimizer as config keys, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "halftone/Optimizers.h"

namespace halftone::detail {

/// The fields that all optimizers share, after "name" and "learning_rate".
template <class Args>
constexpr std::tuple sharedFields{Field{"weight_decay", &Args::weight_decay},
                                  Field{"clipnorm", &Args::clipnorm},
                                  Field{"global_clipnorm", &Args::global_clipnorm},
                                  Field{"clipvalue", &Args::clipvalue},
                                  Field{"use_ema", &Args::use_ema},
                                  Field{"ema_momentum", &Args::ema_momentum},
                                  Field{"ema_overwrite_frequency", &Args::ema_overwrite_frequency},
                                  Field{"loss_scale_factor", &Args::loss_scale_factor},
                                  Field{"gradient_accumulation_steps", &Args::gradient_accumulation_steps}};

/// The fields of one optimizer other than the shared ones.
template <class Args> constexpr std::tuple ownFields{};

template <>
inline constexpr std::tuple ownFields<optimizers::SGDArgs>{Field{"momentum", &optimizers::SGDArgs::momentum},
                                                           Field{"nesterov", &optimizers::SGDArgs::nesterov}};
template <class Args>
constexpr std::tuple adamFields{Field{"beta_1", &Args::beta_1}, Field{"beta_2", &Args::beta_2},
                                Field{"epsilon", &Args::epsilon}, Field{"amsgrad", &Args::amsgrad}};
template <> inline constexpr std::tuple ownFields<optimizers::AdamArgs> = adamFields<optimizers::AdamArgs>;
template <> inline constexpr std::tuple ownFields<optimizers::AdamWArgs> = adamFields<optimizers::AdamWArgs>;
template <>
inline constexpr std::tuple ownFields<optimizers::RMSpropArgs>{
    Field{"rho", &optimizers::RMSpropArgs::rho}, Field{"momentum", &optimizers::RMSpropArgs::momentum},
    Field{"epsilon", &optimizers::RMSpropArgs::epsilon}, Field{"centered", &optimizers::RMSpropArgs::centered}};
template <>
inline constexpr std::tuple ownFields<optimizers::LionArgs>{Field{"beta_1", &optimizers::LionArgs::beta_1},
                                                            Field{"beta_2", &optimizers::LionArgs::beta_2}};
template <>
inline constexpr std::tuple ownFields<optimizers::AdagradArgs>{
    Field{"initial_accumulator_value", &optimizers::AdagradArgs::initial_accumulator_value},
    Field{"epsilon", &optimizers::AdagradArgs::epsilon}};
template <>
inline constexpr std::tuple ownFields<optimizers::AdadeltaArgs>{Field{"rho", &optimizers::AdadeltaArgs::rho},
                                                                Field{"epsilon", &optimizers::AdadeltaArgs::epsilon}};
template <>
inline constexpr std::tuple ownFields<optimizers::AdamaxArgs>{Field{"beta_1", &optimizers::AdamaxArgs::beta_1},
                                                              Field{"beta_2", &optimizers::AdamaxArgs::beta_2},
                                                              Field{"epsilon", &optimizers::AdamaxArgs::epsilon}};
template <>
inline constexpr std::tuple ownFields<optimizers::NadamArgs>{Field{"beta_1", &optimizers::NadamArgs::beta_1},
                                                             Field{"beta_2", &optimizers::NadamArgs::beta_2},
                                                             Field{"epsilon", &optimizers::NadamArgs::epsilon}};
template <>
inline constexpr std::tuple ownFields<optimizers::AdafactorArgs>{
    Field{"beta_2_decay", &optimizers::AdafactorArgs::beta_2_decay},
    Field{"epsilon_1", &optimizers::AdafactorArgs::epsilon_1},
    Field{"epsilon_2", &optimizers::AdafactorArgs::epsilon_2},
    Field{"clip_threshold", &optimizers::AdafactorArgs::clip_threshold},
    Field{"relative_step", &optimizers::AdafactorArgs::relative_step}};
template <>
inline constexpr std::tuple ownFields<optimizers::FtrlArgs>{
    Field{"learning_rate_power", &optimizers::FtrlArgs::learning_rate_power},
    Field{"initial_accumulator_value", &optimizers::FtrlArgs::initial_accumulator_value},
    Field{"l1_regularization_strength", &optimizers::FtrlArgs::l1_regularization_strength},
    Field{"l2_regularization_strength", &optimizers::FtrlArgs::l2_regularization_strength},
    Field{"l2_shrinkage_regularization_strength", &optimizers::FtrlArgs::l2_shrinkage_regularization_strength},
    Field{"beta", &optimizers::FtrlArgs::beta}};
template <>
inline constexpr std::tuple ownFields<optimizers::LambArgs>{Field{"beta_1", &optimizers::LambArgs::beta_1},
                                                            Field{"beta_2", &optimizers::LambArgs::beta_2},
                                                            Field{"epsilon", &optimizers::LambArgs::epsilon}};
template <>
inline constexpr std::tuple ownFields<optimizers::MuonArgs>{
    Field{"adam_beta_1", &optimizers::MuonArgs::adam_beta_1},
    Field{"adam_beta_2", &optimizers::MuonArgs::adam_beta_2},
    Field{"epsilon", &optimizers::MuonArgs::epsilon},
    Field{"exclude_layers", &optimizers::MuonArgs::exclude_layers},
    Field{"muon_a", &optimizers::MuonArgs::muon_a},
    Field{"muon_b", &optimizers::MuonArgs::muon_b},
    Field{"muon_c", &optimizers::MuonArgs::muon_c},
    Field{"adam_lr_ratio", &optimizers::MuonArgs::adam_lr_ratio},
    Field{"momentum", &optimizers::MuonArgs::momentum},
    Field{"ns_steps", &optimizers::MuonArgs::ns_steps},
    Field{"nesterov", &optimizers::MuonArgs::nesterov},
    Field{"exclude_embeddings", &optimizers::MuonArgs::exclude_embeddings},
    Field{"adam_weight_decay", &optimizers::MuonArgs::adam_weight_decay},
    Field{"rms_rate", &optimizers::MuonArgs::rms_rate}};
template <>
inline constexpr std::tuple ownFields<optimizers::ScheduleFreeAdamWArgs>{
    Field{"beta_1", &optimizers::ScheduleFreeAdamWArgs::beta_1},
    Field{"beta_2", &optimizers::ScheduleFreeAdamWArgs::beta_2},
    Field{"epsilon", &optimizers::ScheduleFreeAdamWArgs::epsilon},
    Field{"warmup_steps", &optimizers::ScheduleFreeAdamWArgs::warmup_steps}};

} // namespace halftone::detail
