// The dialect version in bytecode: written, upgraded from and rejected.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Bytecode.h"
#include "Modules.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace halftone::dialect;
using namespace halftone::dialect::testing;
using mlir::ModuleOp;
using mlir::OwningOpRef;

namespace {

/// A contraction with additional attributes, and the values of its `tile` or a similar attribute.
std::string contraction(const std::string &attribute) {
  return "func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8x2xf32> {\n"
         "  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>" +
         attribute +
         "} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>\n"
         "  return %0 : tensor<8x2xf32>\n"
         "}\n";
}

/// The bytecode of a module, which need not verify, in the given version of the dialect.
std::string bytecode(const std::string &text, uint64_t version) {
  mlir::ParserConfig unverified(context(), /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module = mlir::parseSourceString<ModuleOp>(text, unverified);
  REQUIRE(module);
  mlir::BytecodeWriterConfig config;
  config.setDialectVersion<HalftoneDialect>(std::make_unique<BytecodeVersion>(version));
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  REQUIRE(succeeded(mlir::writeBytecodeToFile(*module, out, config)));
  return bytes;
}

OwningOpRef<ModuleOp> read(const std::string &bytes) { return mlir::parseSourceString<ModuleOp>(bytes, context()); }

ContractOp contractOf(ModuleOp module) {
  ContractOp found;
  module.walk([&](ContractOp op) { found = op; });
  return found;
}

} // namespace

TEST_CASE("Bytecode of the present version keeps a contraction's axes and tile") {
  OwningOpRef<ModuleOp> module = read(bytecode(contraction(", tile = array<i64: 8, 64>"), BytecodeVersion::current));
  REQUIRE(module);
  ContractOp contract = contractOf(*module);
  CHECK(contract.getLhsContract() == llvm::ArrayRef<int64_t>{1});
  CHECK(contract.getRhsContract() == llvm::ArrayRef<int64_t>{0});
  REQUIRE(contract.getTile());
  CHECK(*contract.getTile() == llvm::ArrayRef<int64_t>{8, 64});
}

TEST_CASE("Bytecode of version 1 is upgraded: the attribute halftone.tile of a contraction becomes its tile") {
  OwningOpRef<ModuleOp> module = read(bytecode(contraction(", halftone.tile = array<i64: 8, 64>"), 1));
  REQUIRE(module);
  ContractOp contract = contractOf(*module);
  CHECK(contract.getLhsContract() == llvm::ArrayRef<int64_t>{1});
  REQUIRE(contract.getTile());
  CHECK(*contract.getTile() == llvm::ArrayRef<int64_t>{8, 64});
  CHECK(contract->getDiscardableAttrs().empty());
  CHECK(succeeded(mlir::verify(*module)));
}

TEST_CASE("Lookups and cumsums of version 2 have no batch axes, and are of sums") {
  const std::string text = "func.func @main(%x: tensor<2x4xf32>, %i: tensor<2x3xi32>) {\n"
                           "  %0 = halftone.gather %x, %i {axis = 1 : i64, batch = 1 : i64} : (tensor<2x4xf32>, "
                           "tensor<2x3xi32>) -> tensor<2x3xf32>\n"
                           "  %1 = halftone.gather %x, %i {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x3xi32>) -> "
                           "tensor<2x3x4xf32>\n"
                           "  %2 = halftone.scatter_add %i, %1 {axis = 0 : i64} : (tensor<2x3xi32>, "
                           "tensor<2x3x4xf32>) -> tensor<2x4xf32>\n"
                           "  %3 = halftone.cumsum %x {axis = 1 : i64, kind = #halftone<reduce_kind max>, reverse} : "
                           "tensor<2x4xf32> -> tensor<2x4xf32>\n"
                           "  return\n"
                           "}\n";
  const auto found = [&](uint64_t version) {
    mlir::ParserConfig unverified(context(), /*verifyAfterParse=*/false);
    OwningOpRef<ModuleOp> module = mlir::parseSourceString<ModuleOp>(bytecode(text, version), unverified);
    REQUIRE(module);
    std::string facts;
    module->walk([&](GatherOp op) { facts += std::to_string(op.getAxis()) + std::to_string(op.getBatch()) + " "; });
    module->walk([&](ScatterAddOp op) { facts += std::to_string(op.getAxis()) + std::to_string(op.getBatch()) + " "; });
    module->walk([&](CumsumOp op) {
      facts += std::to_string(op.getAxis()) + stringifyReduceKind(op.getKind()).str() + (op.getReverse() ? "<" : ">");
    });
    return facts;
  };
  CHECK(found(BytecodeVersion::current) == "11 00 00 1max<");
  CHECK(found(2) == "10 00 00 1sum<");
}

TEST_CASE("Bytecode of a newer version of the dialect is refused with both versions named") {
  const std::string bytes = bytecode(contraction(""), BytecodeVersion::current + 1);
  Diagnostics diagnostics;
  CHECK(!read(bytes));
  CHECK_THAT(diagnostics.messages, Catch::Contains("the file uses version 4 of the halftone dialect; expected 1 to 3"));
}

TEST_CASE("Bytecode that carries version 0 of the dialect is refused") {
  const std::string bytes = bytecode(contraction(""), 0);
  Diagnostics diagnostics;
  CHECK(!read(bytes));
  CHECK_THAT(diagnostics.messages, Catch::Contains("the file uses version 0 of the halftone dialect"));
}
