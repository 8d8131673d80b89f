// Narrow floats as integers: each bit pattern widened, each rounding against runtime/base/Half.h. Bools as bytes.
// SPDX-License-Identifier: Apache-2.0
#include "CompiledFunction.h"
#include "compiler/kernels/NarrowFloat.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/Half.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// out[i] = convert(in[i]), `lanes` at a time.
Loaded loadConversion(StringRef in, StringRef out, int64_t lanes, const CpuTarget &cpu,
                      const std::function<Emitted(Emitted, MLIRContext *)> &convert) {
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  const auto typeOf = [&](StringRef type) {
    return lanes > 1 ? fmt::format("vector<{}x{}>", lanes, type.str()) : type.str();
  };
  const std::string text = fmt::format(
      R"(func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {{
  %step = arith.constant {0} : i64
  scf.for %i = %begin to %end step %step : i64 {{
    %a = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %s = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %b = llvm.load %s : !llvm.ptr -> !llvm.ptr
    %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {1}
    %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {2}
    %x = llvm.load %p {{alignment = 1 : i64}} : !llvm.ptr -> {3}
    llvm.store %x, %q {{alignment = 1 : i64}} : {3}, !llvm.ptr
  }}
  return
}})",
      lanes, in.str(), out.str(), typeOf(in));
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(diagnostics.failure("").str());
  REQUIRE(module);
  module->walk([&](LLVM::StoreOp store) {
    ImplicitLocOpBuilder builder(store.getLoc(), store);
    store->setOperand(0, convert(Emitted(builder, store.getValue()), &context));
  });
  return loadModule(*module, cpu);
}

template <class Out, class In> std::vector<Out> convertAll(const Loaded &code, const std::vector<In> &in) {
  std::vector<Out> out(in.size());
  void *buffers[] = {const_cast<In *>(in.data()), out.data()};
  code.function(buffers, nullptr, 0, int64_t(in.size()), nullptr);
  return out;
}

/// Values that are hard to round: every narrow value, the midpoints between neighbours, and the values next to
/// midpoints.
template <class Narrow> std::vector<double> hardValues() {
  std::vector<double> values;
  const auto add = [&](double value) {
    for (double v : {value, std::nextafter(value, INFINITY), std::nextafter(value, -INFINITY), value * (1 + 0x1p-40),
                     value * (1 - 0x1p-40), double(std::nextafter(float(value), INFINITY)),
                     double(std::nextafter(float(value), -INFINITY))}) {
      values.push_back(v);
      values.push_back(-v);
    }
  };
  const unsigned count = Narrow::signBit;
  for (unsigned bits = 0; bits + 1 < count; bits += sizeof(typename Narrow::Storage) == 1 ? 1 : 7) {
    const double low = Narrow::decode(typename Narrow::Storage(bits)),
                 high = Narrow::decode(typename Narrow::Storage(bits + 1));
    if (std::isnan(low))
      continue;
    add(low);
    if (!std::isnan(high) && !std::isinf(high))
      add((low + high) / 2);
  }
  const double largest = Narrow::decode(Narrow::largest);
  for (double factor : {1.0, 1.01, 1.03125, 1.0625, 1.1, 2.0, 1e30})
    add(largest * factor);
  for (double v : {0.0, 1e-320, 1e-300, 1e300, double(INFINITY), 4.9e-324, double(std::numeric_limits<float>::max())})
    add(v);
  values.push_back(NAN);
  values.push_back(-NAN);
  std::mt19937 random(1);
  for (int i = 0; i < 50000; ++i) {
    uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, 4);
    values.push_back(value);
    values.push_back(double(value) * (1 + random() * 0x1p-60));
  }
  while (values.size() % 16)
    values.push_back(1);
  return values;
}

template <class Narrow> void checkFormat(const std::string &name, Type (*type)(MLIRContext *)) {
  using Storage = typename Narrow::Storage;
  const std::string storage = fmt::format("i{}", 8 * sizeof(Storage));
  const std::vector<double> wide = hardValues<Narrow>();
  const std::vector<float> single(wide.begin(), wide.end());
  std::vector<Storage> all(size_t(1) << (8 * sizeof(Storage)));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = Storage(i);
  for (const std::string &target : targetsOfRoundings()) {
    const CpuTarget cpu = targetNamed(target);
    for (int64_t lanes : {int64_t(1), cpu.vectorBytes / 4}) {
      INFO(name << " on " << target << ", " << lanes << " lanes");
      const auto widen = [&](Emitted bits, MLIRContext *context) {
        return widenNarrow(cpu.math, bits, cast<FloatType>(type(context)));
      };
      const auto narrow = [&](Emitted value, MLIRContext *context) {
        return narrowFloat(cpu.math, value, cast<FloatType>(type(context)));
      };
      size_t wrong = 0;
      const auto widened = convertAll<float>(loadConversion(storage, "f32", lanes, cpu, widen), all);
      for (size_t i = 0; i < all.size(); ++i) {
        const float expected = Narrow::decode(all[i]);
        wrong += std::isnan(expected) ? !std::isnan(widened[i]) || std::signbit(widened[i]) != std::signbit(expected)
                                      : std::memcmp(&widened[i], &expected, 4) != 0;
      }
      CHECK(wrong == 0);
      const auto narrowed = convertAll<Storage>(loadConversion("f32", storage, lanes, cpu, narrow), single);
      for (size_t i = 0; i < single.size(); ++i)
        wrong += narrowed[i] != Narrow::encode(single[i]);
      CHECK(wrong == 0);
      const auto narrowedWide = convertAll<Storage>(loadConversion("f64", storage, lanes, cpu, narrow), wide);
      for (size_t i = 0; i < wide.size(); ++i) {
        const Storage expected = Narrow::encode(wide[i]);
        if (narrowedWide[i] != expected && !(std::isnan(wide[i]) && Narrow::isNan(narrowedWide[i])) && !wrong++) {
          INFO(wide[i] << " gives " << int(narrowedWide[i]) << ", expected " << int(expected));
          CHECK(narrowedWide[i] == expected);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

/// The text of a linalg kernel after legalize-storage, or the diagnostics.
std::string legalized(const std::string &text, std::string_view target) {
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(diagnostics.failure("").str());
  REQUIRE(module);
  if (failed(legalizeStorage(*module->getOps<func::FuncOp>().begin(), targetNamed(target).math)) ||
      failed(verify(*module)))
    return diagnostics.failure("").diagnostics();
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return printed;
}

std::string elementwise(const std::string &in, const std::string &out, const std::string &body) {
  return fmt::format(R"(func.func @kernel(%e0: index, %a: tensor<?x{0}>) -> tensor<?x{1}> {{
  %o = tensor.empty(%e0) : tensor<?x{1}>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%a : tensor<?x{0}>) outs(%o : tensor<?x{1}>) {{
  ^bb0(%x: {0}, %y: {1}):
    {2}
  }} -> tensor<?x{1}>
  return %r : tensor<?x{1}>
}})",
                     in, out, body);
}

} // namespace

TEST_CASE("f16 as i16 is exact, on every level", "[storage]") {
  checkFormat<Float16>("f16", [](MLIRContext *context) -> Type { return Float16Type::get(context); });
}
TEST_CASE("bf16 as i16 is exact, on every level", "[storage]") {
  checkFormat<Bfloat16>("bf16", [](MLIRContext *context) -> Type { return BFloat16Type::get(context); });
}
TEST_CASE("f8E4M3FN as i8 is exact, on every level", "[storage]") {
  checkFormat<Float8E4m3fn>("f8E4M3FN", [](MLIRContext *context) -> Type { return Float8E4M3FNType::get(context); });
}
TEST_CASE("f8E5M2 as i8 is exact, on every level", "[storage]") {
  checkFormat<Float8E5m2>("f8E5M2", [](MLIRContext *context) -> Type { return Float8E5M2Type::get(context); });
}

TEST_CASE("Tensors of narrow floats become tensors of integers", "[storage]") {
  const std::string body =
      "%w = arith.extf %x : f16 to f32\n%s = arith.addf %w, %w : f32\n%n = arith.truncf %s : f32 to bf16\n"
      "linalg.yield %n : bf16";
  const std::string text = legalized(elementwise("f16", "bf16", body), "x86-64-v3");
  CHECK_THAT(text, Catch::Contains("%arg1: tensor<?xi16>) -> tensor<?xi16>"));
  CHECK_THAT(text, Catch::Contains("arith.bitcast %in : i16 to f16"));
  CHECK_THAT(text, !Catch::Contains("bf16") && !Catch::Contains("arith.truncf"));
  CHECK_THAT(legalized(elementwise("f16", "bf16", body), "x86-64-v2"), !Catch::Contains("f16"));
}

TEST_CASE("Narrow values that only move, and narrow constants, stay bits", "[storage]") {
  const std::string text = legalized(elementwise("f8E4M3FN", "f8E4M3FN",
                                                 "%c = arith.constant 1.5 : f8E4M3FN\n%t = arith.constant true\n"
                                                 "%s = arith.select %t, %x, %c : f8E4M3FN\nlinalg.yield %s : f8E4M3FN"),
                                     "host");
  CHECK_THAT(text, Catch::Contains("arith.constant 60 : i8") && !Catch::Contains("f8E4M3FN"));
}

TEST_CASE("Bools are stored as bytes", "[storage]") {
  const std::string text = legalized(
      elementwise("i1", "i1", "%t = arith.constant true\n%n = arith.xori %x, %t : i1\nlinalg.yield %n : i1"), "host");
  CHECK_THAT(text, Catch::Contains("%arg1: tensor<?xi8>) -> tensor<?xi8>"));
  CHECK_THAT(text, Catch::Contains("arith.cmpi ne, %in") && Catch::Contains("arith.extui"));
  const std::string filled =
      legalized("func.func @kernel(%e0: index) -> tensor<?xi1> {\n%t = arith.constant true\n%o = tensor.empty(%e0) : "
                "tensor<?xi1>\n"
                "%r = linalg.fill ins(%t : i1) outs(%o : tensor<?xi1>) -> tensor<?xi1>\nreturn %r : tensor<?xi1>\n}",
                "host");
  CHECK_THAT(filled, Catch::Contains("linalg.fill ins(%1 : i8)") || Catch::Contains("linalg.fill ins(%0 : i8)") ||
                         Catch::Contains(": i8) outs("));
}

TEST_CASE("Arithmetic on a narrow float is refused by name", "[storage]") {
  CHECK_THAT(legalized(elementwise("f16", "f16", "%s = arith.addf %x, %x : f16\nlinalg.yield %s : f16"), "host"),
             Catch::Contains("'arith.addf' on a narrow float"));
}
