// The answers of fast and strict numerics, and their names.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Numerics.h"
#include <catch2/catch.hpp>

using halftone::compiler::Numerics;

TEST_CASE("Numerics are known by their names alone") {
  for (const Numerics each : {Numerics::fast(), Numerics::strict()})
    CHECK(Numerics::named(each.name()) == each);
  CHECK(Numerics::fast().name() == "fast");
  CHECK(Numerics::strict().name() == "strict");
  CHECK(Numerics::strictIf(true) == Numerics::strict());
  CHECK(Numerics::strictIf(false) == Numerics::fast());
  for (const char *other : {"", "Strict", "strict ", "fastest", "exact"})
    CHECK_FALSE(Numerics::named(other));
}

TEST_CASE("Strict numerics take each op alone, round it, fuse nothing and keep the order of sums; fast ones do not") {
  const Numerics strict = Numerics::strict(), fast;
  CHECK(fast == Numerics::fast());
  CHECK_FALSE(fast == strict);
  CHECK(strict.formsAlone());
  CHECK(strict.roundsEachOp());
  CHECK(strict.fixesOrder());
  CHECK_FALSE(strict.mayFuse());
  CHECK_FALSE(fast.formsAlone());
  CHECK_FALSE(fast.roundsEachOp());
  CHECK_FALSE(fast.fixesOrder());
  CHECK(fast.mayFuse());
}
