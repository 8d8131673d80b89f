// checkCores(): valid kernels, and each kind of invalid kernel.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/Executable.h"
#include <catch2/catch.hpp>

using namespace halftone;

namespace {

using Kernels = std::map<std::string, KernelCode>;

KernelCode core(const std::string &symbol, std::vector<std::string> uses = {}) {
  return {symbol, "core", "cpu", "", "object", "", {}, std::move(uses)};
}

KernelCode kernel(std::vector<std::string> uses) {
  return {"f", "matmul", "cpu", "", "object", "", {}, std::move(uses)};
}

void refused(const Kernels &kernels, const std::string &expected) {
  const Status status = checkCores(kernels);
  CAPTURE(expected);
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK(status.message() == expected);
}

} // namespace

TEST_CASE("kernels may use cores, several and the same ones, and cores may be there that no kernel uses") {
  CHECK(checkCores({}).isOk());
  CHECK(checkCores({{"k", kernel({})}}).isOk());
  CHECK(checkCores(
            {{"a", core("s")}, {"b", core("t")}, {"c", core("u")}, {"k", kernel({"a", "b"})}, {"l", kernel({"b"})}})
            .isOk());
  // Two cores with the same symbol, used by different kernels.
  CHECK(checkCores({{"a", core("s")}, {"b", core("s")}, {"k", kernel({"a"})}, {"l", kernel({"b"})}}).isOk());
}

TEST_CASE("cores that are missing, foreign, ambiguous or in a circle are refused") {
  refused({{"k", kernel({"a"})}}, "kernel k uses a, which is missing");
  refused({{"k", kernel({"l"})}, {"l", kernel({})}}, "kernel k uses l, a kernel of kind 'matmul'; expected a core");
  refused({{"k", kernel({"k"})}}, "kernel k uses k, a kernel of kind 'matmul'; expected a core");
  refused({{"a", core("s")}, {"k", kernel({"a", "a"})}}, "kernel k uses a, the second core with the symbol 's'");
  refused({{"a", core("s")}, {"b", core("s")}, {"k", kernel({"a", "b"})}},
          "kernel k uses b, the second core with the symbol 's'");
  KernelCode other = core("s");
  other.target = "gpu";
  refused({{"a", other}, {"k", kernel({"a"})}}, "kernel k uses a, a core for another target");
  refused({{"a", core("s", {"b"})}, {"b", core("t")}}, "core a uses b, and a core uses no other");
  refused({{"a", core("s", {"a"})}}, "core a uses a, and a core uses no other");
  refused({{"a", core("s", {"b"})}, {"b", core("t", {"a"})}}, "core a uses b, and a core uses no other");
}
