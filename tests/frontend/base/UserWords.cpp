// MLIR's messages, rewritten in the terms of users.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/UserWords.h"
#include "frontend/graph/Trace.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;

TEST_CASE("ops and types are named as users know them") {
  CHECK(detail::inUsersWords("'halftone.gradient' op differentiates a scalar, but got 'tensor<12x1xf32>'") ==
        "gradient: differentiates a scalar, but got float32 (12, 1)");
  CHECK(detail::inUsersWords("'halftone.contract' op takes tensor<bf16> by tensor<3xui8>, tensor<2x0xi1>") ==
        "contract: takes bfloat16 () by uint8 (3,), bool (2, 0)");
  CHECK(detail::inUsersWords("plain text of 3 x 4") == "plain text of 3 x 4");
}

TEST_CASE("messages of IR verifiers reach users in users' words") {
  auto message = [](auto f) {
    try {
      jit(f)(Tensor::ones({2, 3}));
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  for (const std::string &said :
       {message([](const Value &v) { return ops::argmax(ops::slice(v, {0, 0}, {2, 0}), 1); }),
        message([](const Value &v) { return ops::reshape(v, {4}); }),
        message([](const Value &v) { return detail::Trace::current()->reshape(v, {4}); }),
        message([](const Value &v) { return detail::Trace::current()->slice(v, {1, 1}, {2, 2}); })}) {
    INFO(said);
    CHECK(!said.empty());
    CHECK_THAT(said, !Contains("halftone.") && !Contains("tensor<") && !Contains("' op"));
  }
}
