// The arguments of recurrent layers and their cells as config keys, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/FieldsConvolution.h"

namespace halftone::detail {

struct SimpleRNNCellOptions : layers::SimpleRNNCellArgs {
  int64_t units = 0;
  Layer layer() const { return layers::SimpleRNNCell(units, *this); }
};
struct LSTMCellOptions : layers::LSTMCellArgs {
  int64_t units = 0;
  Layer layer() const { return layers::LSTMCell(units, *this); }
};
struct GRUCellOptions : layers::GRUCellArgs {
  int64_t units = 0;
  Layer layer() const { return layers::GRUCell(units, *this); }
};
struct SimpleRNNOptions : layers::SimpleRNNArgs {
  int64_t units = 0;
  Layer layer() const { return layers::SimpleRNN(units, *this); }
};
struct LSTMOptions : layers::LSTMArgs {
  int64_t units = 0;
  Layer layer() const { return layers::LSTM(units, *this); }
};
struct GRUOptions : layers::GRUArgs {
  int64_t units = 0;
  Layer layer() const { return layers::GRU(units, *this); }
};

template <class LayerClass> struct ConvLSTMOptions : layers::ConvLSTMArgs {
  int64_t filters = 0;
  Integers kernelSize{};
  Layer layer() const { return LayerClass(filters, kernelSize, *this); }
};

/// The options with which a recurrent layer runs its cell: the first fields of its config.
template <class Args>
constexpr std::tuple runFields{Field{"return_sequences", &Args::return_sequences},
                               Field{"return_state", &Args::return_state},
                               Field{"go_backwards", &Args::go_backwards},
                               Field{"stateful", &Args::stateful},
                               Field{"unroll", &Args::unroll},
                               Field{"zero_output_for_mask", &Args::zero_output_for_mask}};

/// Groups of fields of cells and of the layers built from them.
template <class Args>
constexpr std::tuple recurrentInitializers{Field{"kernel_initializer", &Args::kernel_initializer},
                                           Field{"recurrent_initializer", &Args::recurrent_initializer},
                                           Field{"bias_initializer", &Args::bias_initializer}};
template <class Args>
constexpr std::tuple recurrentRegularizers{Field{"kernel_regularizer", &Args::kernel_regularizer},
                                           Field{"recurrent_regularizer", &Args::recurrent_regularizer},
                                           Field{"bias_regularizer", &Args::bias_regularizer}};
template <class Args>
constexpr std::tuple recurrentConstraints{Field{"kernel_constraint", &Args::kernel_constraint},
                                          Field{"recurrent_constraint", &Args::recurrent_constraint},
                                          Field{"bias_constraint", &Args::bias_constraint}};
template <class Args>
constexpr std::tuple recurrentRates{Field{"dropout", &Args::dropout},
                                    Field{"recurrent_dropout", &Args::recurrent_dropout}};
template <class Args> constexpr std::tuple gateActivation{Field{"recurrent_activation", &Args::recurrent_activation}};
template <class Args> constexpr std::tuple forgetBias{Field{"unit_forget_bias", &Args::unit_forget_bias}};
template <class Args> constexpr std::tuple resetAfter{Field{"reset_after", &Args::reset_after}};
template <class Args> constexpr std::tuple seedField{Field{"seed", &Args::seed}};
template <class Options>
constexpr std::tuple unitFields{Field{"units", &Options::units, Presence::required},
                                Field{"activation", &Options::activation}};
template <class Args> constexpr std::tuple biasField{Field{"use_bias", &Args::use_bias}};

template <>
inline constexpr std::tuple layerFields<SimpleRNNCellOptions> =
    std::tuple_cat(unitFields<SimpleRNNCellOptions>, biasField<layers::SimpleRNNCellArgs>,
                   recurrentInitializers<layers::SimpleRNNCellArgs>, recurrentRegularizers<layers::SimpleRNNCellArgs>,
                   recurrentConstraints<layers::SimpleRNNCellArgs>, recurrentRates<layers::SimpleRNNCellArgs>,
                   seedField<layers::SimpleRNNCellArgs>);
template <>
inline constexpr std::tuple layerFields<LSTMCellOptions> =
    std::tuple_cat(unitFields<LSTMCellOptions>, gateActivation<layers::LSTMCellArgs>, biasField<layers::LSTMCellArgs>,
                   forgetBias<layers::LSTMCellArgs>, recurrentInitializers<layers::LSTMCellArgs>,
                   recurrentRegularizers<layers::LSTMCellArgs>, recurrentConstraints<layers::LSTMCellArgs>,
                   recurrentRates<layers::LSTMCellArgs>, seedField<layers::LSTMCellArgs>);
template <>
inline constexpr std::tuple layerFields<GRUCellOptions> =
    std::tuple_cat(unitFields<GRUCellOptions>, gateActivation<layers::GRUCellArgs>, biasField<layers::GRUCellArgs>,
                   recurrentInitializers<layers::GRUCellArgs>, recurrentRegularizers<layers::GRUCellArgs>,
                   recurrentConstraints<layers::GRUCellArgs>, recurrentRates<layers::GRUCellArgs>,
                   resetAfter<layers::GRUCellArgs>, seedField<layers::GRUCellArgs>);

/// As in Keras, the config of a SimpleRNN lacks the seed.
template <>
inline constexpr std::tuple layerFields<SimpleRNNOptions> =
    std::tuple_cat(runFields<layers::SimpleRNNArgs>, unitFields<SimpleRNNOptions>, biasField<layers::SimpleRNNArgs>,
                   recurrentInitializers<layers::SimpleRNNArgs>, recurrentRegularizers<layers::SimpleRNNArgs>,
                   activityField<layers::SimpleRNNArgs>, recurrentConstraints<layers::SimpleRNNArgs>,
                   recurrentRates<layers::SimpleRNNArgs>);
template <>
inline constexpr std::tuple layerFields<LSTMOptions> =
    std::tuple_cat(runFields<layers::LSTMArgs>, unitFields<LSTMOptions>, gateActivation<layers::LSTMArgs>,
                   biasField<layers::LSTMArgs>, recurrentInitializers<layers::LSTMArgs>, forgetBias<layers::LSTMArgs>,
                   recurrentRegularizers<layers::LSTMArgs>, activityField<layers::LSTMArgs>,
                   recurrentConstraints<layers::LSTMArgs>, recurrentRates<layers::LSTMArgs>,
                   seedField<layers::LSTMArgs>);
template <>
inline constexpr std::tuple layerFields<GRUOptions> =
    std::tuple_cat(runFields<layers::GRUArgs>, unitFields<GRUOptions>, gateActivation<layers::GRUArgs>,
                   biasField<layers::GRUArgs>, recurrentInitializers<layers::GRUArgs>,
                   recurrentRegularizers<layers::GRUArgs>, activityField<layers::GRUArgs>,
                   recurrentConstraints<layers::GRUArgs>, recurrentRates<layers::GRUArgs>, resetAfter<layers::GRUArgs>,
                   seedField<layers::GRUArgs>);

template <class L>
inline constexpr std::tuple layerFields<ConvLSTMOptions<L>> = std::tuple_cat(
    runFields<layers::ConvLSTMArgs>, filtersField<ConvLSTMOptions<L>>, windowFields<ConvLSTMOptions<L>>,
    formatFields<ConvLSTMOptions<L>>, std::tuple{Field{"activation", &layers::ConvLSTMArgs::activation}},
    gateActivation<layers::ConvLSTMArgs>, biasField<layers::ConvLSTMArgs>, recurrentInitializers<layers::ConvLSTMArgs>,
    forgetBias<layers::ConvLSTMArgs>, recurrentRegularizers<layers::ConvLSTMArgs>, activityField<layers::ConvLSTMArgs>,
    recurrentConstraints<layers::ConvLSTMArgs>, recurrentRates<layers::ConvLSTMArgs>, seedField<layers::ConvLSTMArgs>);

} // namespace halftone::detail
