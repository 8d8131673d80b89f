// The global policy of a thread, and floatx.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/policy/PolicyRep.h"
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

using namespace halftone;

/// Runs `body` on a new thread, where the policy is unset, and then restores floatx.
static void fresh(const std::function<void()> &body) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  config::set_floatx("float32");
  if (failure)
    std::rethrow_exception(failure);
}

TEST_CASE("The global policy is float32 by default") {
  std::string name;
  fresh([&] { name = dtype_policy().name(); });
  CHECK(name == "float32");
}

// policies 3.1
TEST_CASE("floatx decides the global policy until its first read") {
  std::string before, after, constructed;
  fresh([&] {
    config::set_floatx("bfloat16");
    before = dtype_policy().name();
    config::set_floatx("float64");
    after = dtype_policy().name();
    constructed = DTypePolicy().name();
  });
  CHECK(before == "bfloat16");
  CHECK(after == "bfloat16");
  CHECK(constructed == "bfloat16");
  fresh([&] {
    config::set_floatx("float16");
    before = FloatDTypePolicy().name(); // constructing a policy also reads the global policy
    config::set_floatx("float64");
    after = dtype_policy().name();
  });
  CHECK(before == "float16");
  CHECK(after == "float16");
}

// policies 3.1
TEST_CASE("Each thread has its own global policy") {
  const PolicyScope restore{PolicyArg()};
  set_dtype_policy("mixed_float16");
  std::string other;
  fresh([&] {
    other = dtype_policy().name();
    set_dtype_policy("float64");
  });
  CHECK(other == "float32");
  CHECK(dtype_policy().name() == "mixed_float16");
}

// policies 1.2
TEST_CASE("The global policy is set by object, by name, and through Keras's other spellings") {
  const PolicyScope restore{PolicyArg()};
  set_dtype_policy(FloatDTypePolicy("bfloat16"));
  CHECK(dtype_policy().class_name() == "FloatDTypePolicy");
  CHECK(DTypePolicy().class_name() == "DTypePolicy");
  CHECK(DTypePolicy().name() == "bfloat16");
  set_dtype_policy(DTypePolicy("int8"));
  CHECK(dtype_policy().compute_dtype() == DType::int8);
  mixed_precision::set_global_policy("mixed_bfloat16");
  CHECK(mixed_precision::global_policy() == DTypePolicy("mixed_bfloat16"));
  mixed_precision::set_dtype_policy("float16");
  CHECK(mixed_precision::dtype_policy() == mixed_precision::Policy("float16"));
}

// policies 3.2
TEST_CASE("A failed set leaves the global policy as it was") {
  const PolicyScope restore("mixed_float16");
  for (const char *bad : {"", "float15", "int8", "int8_from_float16"})
    CHECK_THROWS_AS(set_dtype_policy(bad), Error);
  CHECK(dtype_policy().name() == "mixed_float16");
}

// policies 3.2
TEST_CASE("A PolicyScope restores the policy before it, also that none was set") {
  std::vector<std::string> names;
  fresh([&] {
    {
      const PolicyScope outer("mixed_float16");
      names.push_back(dtype_policy().name());
      {
        const PolicyScope inner(float64);
        names.push_back(dtype_policy().name());
      }
      names.push_back(dtype_policy().name());
    }
    config::set_floatx("bfloat16");
    names.push_back(dtype_policy().name());
  });
  CHECK(names == std::vector<std::string>{"mixed_float16", "float64", "mixed_float16", "bfloat16"});
}

TEST_CASE("floatx takes four names, epsilon is Keras's") {
  for (const char *good : {"bfloat16", "float16", "float64", "float32"}) {
    config::set_floatx(good);
    CHECK(config::floatx() == good);
  }
  for (const char *bad : {"", "float", "float8_e4m3fn", "int32", "mixed_float16", "Float32"})
    CHECK_THROWS_WITH(config::set_floatx(bad), Catch::StartsWith(std::string("ValueError: Unknown `floatx` value: ") +
                                                                 bad + ". Expected one of"));
  CHECK(config::floatx() == "float32");
  CHECK(config::epsilon() == 1e-7);
}

TEST_CASE("equal global policies have one number, and reading an unset one changes nothing") {
  unsetPolicy();
  const uint64_t unset = globalPolicyId();
  CHECK(unset != 0);
  (void)dtype_policy();
  CHECK(globalPolicyId() == unset);
  set_dtype_policy("mixed_float16");
  const uint64_t mixed = globalPolicyId();
  CHECK(mixed != unset);
  {
    const PolicyScope scope(DTypePolicyMap("mixed_float16", {}));
    const uint64_t map = globalPolicyId();
    const PolicyScope other(DTypePolicyMap("mixed_float16", {})); // a map with its own entries
    CHECK(map != mixed);
    CHECK(globalPolicyId() != map);
  }
  CHECK(globalPolicyId() == mixed);
  set_dtype_policy(QuantizedFloat8DTypePolicy("float8", "float32", 8));
  const uint64_t shortHistory = globalPolicyId();
  set_dtype_policy(QuantizedFloat8DTypePolicy("float8", "float32", 9));
  CHECK(globalPolicyId() != shortHistory);
  unsetPolicy();
  CHECK(globalPolicyId() == unset);
}

TEST_CASE("it is noted whether a thread reads its global policy") {
  const PolicyReads outer;
  CHECK_FALSE(outer.any());
  {
    const PolicyReads inner;
    CHECK_FALSE(inner.any());
    (void)DTypePolicy();
    CHECK(inner.any());
  }
  CHECK(outer.any());
  const PolicyReads after;
  (void)DTypePolicy("float16");
  CHECK_FALSE(after.any());
}
