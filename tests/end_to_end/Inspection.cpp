// The IR of a model at every stage, its cast ledger, and that mixed precision adds no kernel.
// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/Mlp.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>

using namespace halftone;
using namespace halftone::testing;
using Catch::Matchers::Contains;

TEST_CASE("every stage of every program can be printed") {
  Sequential model = smallMlp("mixed_bfloat16");
  for (Program program : {Program::predict, Program::test, Program::train})
    for (Stage stage :
         {Stage::graph, Stage::cast, Stage::pure, Stage::kernel, Stage::linalg, Stage::plan, Stage::target}) {
      INFO(name(stage));
      CHECK(model.ir(stage, {.program = program, .batch_size = 16}).size() > 200);
    }
  CHECK_THAT(model.ir(Stage::graph), Contains("halftone.layer \"mlp/hidden\" policy \"mixed_bfloat16\""));
  CHECK_THAT(model.ir(Stage::cast), Contains("origin = \"variable read\""));
  CHECK(stage("kernel") == Stage::kernel);
  CHECK_THROWS_AS(stage("kernels"), Error);
}

TEST_CASE("a mixed training step has no kernel that only casts") {
  for (const char *policy : {"mixed_bfloat16", "mixed_float16"}) {
    INFO(policy);
    Sequential model = smallMlp(policy, {.max_standalone_casts = 0});
    CHECK_NOTHROW(model.train_on_batch(mnist().x_train.slice(0, 128), mnist().y_train.slice(0, 128)));
    CastLedger ledger = model.cast_ledger();
    CHECK(ledger.standalone == 0);
    CHECK(ledger.fused > 0);
    // Independently of the ledger: the body of each kernel has an operation other than casts and shape ops.
    std::string text = model.ir(Stage::kernel);
    std::regex op("halftone\\.(\\w+)");
    int64_t kernels = 0;
    for (size_t at = text.find("halftone.kernel "); at != std::string::npos;
         at = text.find("halftone.kernel ", at + 1)) {
      std::string body = text.substr(at + 16, text.find("halftone.yield", at) - at - 16);
      bool computes = false;
      for (std::sregex_iterator o(body.begin(), body.end(), op), end; o != end; ++o) {
        std::string mnemonic = (*o)[1];
        computes |= mnemonic != "cast" && mnemonic != "reshape" && mnemonic != "broadcast" && mnemonic != "transpose" &&
                    mnemonic != "constant";
      }
      INFO(body);
      CHECK(computes);
      ++kernels;
    }
    CHECK(kernels > 3);
  }
}

TEST_CASE("The limit of standalone casts holds in strict numerics, where each cast is a kernel") {
  Sequential model = smallMlp("mixed_float16", {.numerics = Numerics::strict, .max_standalone_casts = 0});
  CHECK_THROWS_WITH(model.train_on_batch(mnist().x_train.slice(0, 128), mnist().y_train.slice(0, 128)),
                    Contains("casts are standalone kernels; expected at most 0"));
}

TEST_CASE("dump_ir writes one file a stage") {
  Sequential model = smallMlp("float32");
  std::string folder = scratchPath("ir");
  model.dump_ir(folder);
  for (const char *file :
       {"0-graph.mlir", "1-cast.mlir", "2-pure.mlir", "3-kernel.mlir", "4-linalg.mlir", "5-plan.txt", "6-target.s"}) {
    INFO(file);
    std::ifstream in(folder + "/" + file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK(text.size() > 100);
    CHECK(text == model.ir(static_cast<Stage>(*file - '0')));
  }
  CHECK_THROWS_WITH(model.dump_ir("/proc/nowhere"), Contains("/proc/nowhere"));
}
