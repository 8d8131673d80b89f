// The arguments of each optimizer as keys of its config, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/ConfigFields.h"
#include "halftone/Optimizers.h"

namespace halftone::detail {

/// What every optimizer has; "name" and "learning_rate" stand before it.
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

/// What an optimizer has beyond them.
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

} // namespace halftone::detail
