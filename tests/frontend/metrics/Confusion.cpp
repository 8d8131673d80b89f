// Precision, recall, and metrics such as PrecisionAtRecall: arguments and names. The recorded Keras rows have values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;

TEST_CASE("Metrics without a name get Keras's automatic names") {
  utils::clear_session();
  CHECK(metrics::Precision().name() == "precision");
  CHECK(metrics::Precision().name() == "precision_1");
  CHECK(metrics::FalseNegatives().name() == "false_negatives");
  CHECK(metrics::SensitivityAtSpecificity(0.5).name() == "sensitivity_at_specificity");
  CHECK(metrics::AUC().name() == "auc");
  CHECK(metrics::MeanIoU(2).name() == "mean_io_u");
  CHECK(Metric("FalseNegatives").name() == "FalseNegatives"); // a name is kept
  CHECK(Metric("true_positives").name() == "true_positives");
  const metrics::Recall recall;
  REQUIRE(recall.variables().size() == 2);
  CHECK(recall.variables()[0].path() == "recall/true_positives");
  CHECK(recall.variables()[1].path() == "recall/false_negatives");
  CHECK(metrics::TrueNegatives().variables()[0].path() == "true_negatives/accumulator");
}

TEST_CASE("A ratio outside of 0 to 1, or no threshold, is refused") {
  CHECK_THAT(errorOf([] { metrics::PrecisionAtRecall(1.5); }),
             Contains("ValueError: Argument `recall` must be in the range [0, 1]. Received: recall=1.5"));
  CHECK_THAT(errorOf([] { metrics::SpecificityAtSensitivity(-0.5); }), Contains("sensitivity=-0.5"));
  CHECK_THAT(errorOf([] { metrics::SensitivityAtSpecificity(NAN); }), Contains("specificity=nan"));
  CHECK_THAT(errorOf([] { metrics::RecallAtPrecision(0.5, {.num_thresholds = 0}); }),
             Contains("ValueError: Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=0"));
  CHECK_THAT(errorOf([] { (void)Metric("PrecisionAtRecall"); }),
             Contains("ValueError") && Contains("metrics::PrecisionAtRecall(recall)"));
}
