// Conversion of the frontend's enums to the dialect's, which have the same values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "dialect/Dialect.h"
#include "frontend/graph/Trace.h"

namespace halftone::detail {

/// The dialect's enumerator for a frontend enumerator. The assertions below compare all of them.
template <class Dialect, class Frontend> constexpr Dialect mirrored(Frontend value) {
  return static_cast<Dialect>(value);
}
template <class Dialect, class Frontend>
constexpr bool areMirrored(std::initializer_list<std::pair<Frontend, Dialect>> pairs, unsigned last) {
  unsigned number = 0;
  for (const auto &[frontend, dialect] : pairs)
    if (mirrored<Dialect>(frontend) != dialect || static_cast<unsigned>(dialect) != number++)
      return false;
  return number == last + 1; // the dialect has no further enumerator
}

static_assert(
    areMirrored<dialect::ComparePredicate, ComparePredicate>({{ComparePredicate::eq, dialect::ComparePredicate::eq},
                                                              {ComparePredicate::ne, dialect::ComparePredicate::ne},
                                                              {ComparePredicate::lt, dialect::ComparePredicate::lt},
                                                              {ComparePredicate::le, dialect::ComparePredicate::le},
                                                              {ComparePredicate::gt, dialect::ComparePredicate::gt},
                                                              {ComparePredicate::ge, dialect::ComparePredicate::ge}},
                                                             dialect::getMaxEnumValForComparePredicate()));
static_assert(areMirrored<dialect::ReduceKind, ReduceKind>({{ReduceKind::sum, dialect::ReduceKind::sum},
                                                            {ReduceKind::max, dialect::ReduceKind::max},
                                                            {ReduceKind::min, dialect::ReduceKind::min},
                                                            {ReduceKind::prod, dialect::ReduceKind::prod},
                                                            {ReduceKind::logical_and, dialect::ReduceKind::and_},
                                                            {ReduceKind::logical_or, dialect::ReduceKind::or_}},
                                                           dialect::getMaxEnumValForReduceKind()));
static_assert(areMirrored<dialect::ScatterKind, ScatterKind>({{ScatterKind::set, dialect::ScatterKind::set},
                                                              {ScatterKind::sum, dialect::ScatterKind::sum},
                                                              {ScatterKind::max, dialect::ScatterKind::max},
                                                              {ScatterKind::min, dialect::ScatterKind::min},
                                                              {ScatterKind::prod, dialect::ScatterKind::prod}},
                                                             dialect::getMaxEnumValForScatterKind()));
static_assert(areMirrored<dialect::ReduceAllKind, ReduceAllKind>(
    {{ReduceAllKind::all_finite, dialect::ReduceAllKind::all_finite},
     {ReduceAllKind::sum_of_squares, dialect::ReduceAllKind::sum_of_squares},
     {ReduceAllKind::max_abs, dialect::ReduceAllKind::max_abs}},
    dialect::getMaxEnumValForReduceAllKind()));
static_assert(areMirrored<dialect::CollectiveKind, CollectiveKind>(
    {{CollectiveKind::sum, dialect::CollectiveKind::sum}, {CollectiveKind::max, dialect::CollectiveKind::max}},
    dialect::getMaxEnumValForCollectiveKind()));
static_assert(areMirrored<dialect::UpdateKind, UpdateKind>({{UpdateKind::gradient, dialect::UpdateKind::gradient},
                                                            {UpdateKind::assign, dialect::UpdateKind::assign},
                                                            {UpdateKind::overwrite, dialect::UpdateKind::overwrite}},
                                                           dialect::getMaxEnumValForUpdateKind()));
static_assert(areMirrored<dialect::VariableRole, VariableRole>(
    {{VariableRole::weight, dialect::VariableRole::weight},
     {VariableRole::state, dialect::VariableRole::state},
     {VariableRole::seed, dialect::VariableRole::seed},
     {VariableRole::slot, dialect::VariableRole::slot},
     {VariableRole::iteration, dialect::VariableRole::iteration},
     {VariableRole::learning_rate, dialect::VariableRole::learning_rate},
     {VariableRole::loss_scale, dialect::VariableRole::loss_scale},
     {VariableRole::metric, dialect::VariableRole::metric},
     {VariableRole::constant, dialect::VariableRole::constant}},
    dialect::getMaxEnumValForVariableRole()));

} // namespace halftone::detail
