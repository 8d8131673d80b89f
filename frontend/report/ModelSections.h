// Report sections that need no compiled program: graph, layers, policies and learning curves.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/report/Page.h"
#include "frontend/training/HistoryRep.h"
#include "halftone/Model.h"

namespace halftone::detail {

Section curvesSection(const History::Rep *history); // null before the first fit()
Section graphSection(const Model &model);
Section layersSection(const SummaryReport &summary);
Section policiesSection(const Model &model);

} // namespace halftone::detail
