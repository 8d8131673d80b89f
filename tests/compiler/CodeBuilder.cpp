// Runs code of CodeBuilder, through which emitters write code: loops, branches, masked memory, transposes, arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/CodeBuilder.h"
#include "CompiledFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cmath>

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// The arguments of the code under test: its input, its output, and a count.
struct Given {
  Emitted in, out, count;
};

Loaded loadCode(const std::function<void(CodeBuilder &, const Given &)> &emit) {
  KernelContext context;
  const Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  CodeBuilder code(loc, module->getBodyRegion());
  const Type pointer = LLVM::LLVMPointerType::get(&context), i64 = code.getI64Type();
  auto function = func::FuncOp::create(code, "kernel", code.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  code.setInsertionPointToStart(function.addEntryBlock());
  const Emitted buffers = code.wrap(function.getArgument(0));
  const auto buffer = [&](int64_t index) {
    return code.load(pointer, code.address(buffers, pointer, code.constant(index)));
  };
  emit(code, {buffer(0), buffer(1), code.wrap(function.getArgument(3))});
  func::ReturnOp::create(code);
  return loadModule(*module, targetNamed("host"));
}

template <class Out, class In> std::vector<Out> run(const Loaded &code, std::vector<In> in, std::vector<Out> out) {
  void *buffers[] = {in.data(), out.data()};
  code.function(buffers, nullptr, 0, int64_t(in.size()), nullptr);
  return out;
}

} // namespace

TEST_CASE("A loop carries its values, and a choice gives the values of the outcome that holds", "[codegen]") {
  // out[0] = the sum of the even elements minus the sum of the odd ones; out[1] = the number of even elements.
  const Loaded code = loadCode([](CodeBuilder &code, const Given &given) {
    const Type i64 = code.getI64Type();
    const Emitted zero = code.constant(0);
    const Values sums =
        code.loop(zero, given.count, code.constant(1), {zero, zero}, [&](Emitted at, const Values &now) {
          const Emitted element = code.load(i64, code.address(given.in, i64, at));
          return code.choose(
              equal(element & 1, zero), [&] { return Values{now[0] + element, now[1] + 1}; },
              [&] { return Values{now[0] - element, now[1]}; });
        });
    code.loop(zero, code.constant(2), code.constant(1), [&](Emitted at) {
      code.branch(
          equal(at, zero), [&] { code.store(sums[0], given.out); },
          [&] { code.store(sums[1], code.address(given.out, i64, at)); });
    });
  });
  using Numbers = std::vector<int64_t>;
  CHECK(run<int64_t, int64_t>(code, {}, {7, 7}) == Numbers{0, 0});
  CHECK(run<int64_t, int64_t>(code, {5}, {7, 7}) == Numbers{-5, 0});
  CHECK(run<int64_t, int64_t>(code, {4, 1, -6, 0, 3}, {7, 7}) == Numbers{-6, 3});
}

TEST_CASE("A square of vectors is turned, whatever its side", "[codegen]") {
  for (int64_t side : {1, 2, 4, 8, 16}) {
    const Loaded code = loadCode([side](CodeBuilder &code, const Given &given) {
      const Type i32 = code.getI32Type();
      const VectorType row = VectorType::get(side, i32);
      Values rows;
      for (int64_t index = 0; index < side; ++index)
        rows.push_back(code.load(row, code.address(given.in, i32, code.constant(index * side))));
      for (auto [index, column] : llvm::enumerate(code.transpose(rows)))
        code.store(column, code.address(given.out, i32, code.constant(int64_t(index) * side)));
    });
    std::vector<int32_t> square(size_t(side * side)), turned(square);
    for (int64_t index = 0; index < side * side; ++index) {
      square[size_t(index)] = int32_t(index);
      turned[size_t(index % side * side + index / side)] = int32_t(index);
    }
    INFO(side);
    CHECK(run<int32_t>(code, square, std::vector<int32_t>(square.size())) == turned);
  }
}

TEST_CASE("Lanes outside of a mask are read as 0 and leave memory as it is", "[codegen]") {
  const Loaded code = loadCode([](CodeBuilder &code, const Given &given) {
    const VectorType lanes = VectorType::get(8, code.getF32Type());
    const Emitted steps = code.steps(code.getI64Type(), 8), mask = steps < code.splat(given.count, 8);
    const Emitted read = code.loadMasked(lanes, given.in, mask);
    code.storeMasked(read * 2.0, given.out, mask);
    code.store(read, code.address(given.out, code.getF32Type(), code.constant(8)));
  });
  const std::vector<float> before(16, 7);
  for (size_t count : {0, 1, 5, 8}) {
    std::vector<float> in(count, 3), expected(16, 0);
    std::fill_n(expected.begin(), 8, 7.0f);
    std::fill_n(expected.begin(), count, 6.0f);
    std::fill_n(expected.begin() + 8, count, 3.0f);
    INFO(count);
    CHECK(run<float>(code, in, before) == expected);
  }
}

TEST_CASE("Unsigned arithmetic takes the highest bit for a part of the value", "[codegen]") {
  const Loaded code = loadCode([](CodeBuilder &code, const Given &given) {
    const Type i64 = code.getI64Type();
    const auto element = [&](int64_t index) {
      return code.load(i64, code.address(given.in, i64, code.constant(index)));
    };
    const Emitted a = element(0), b = element(1);
    const Values results{a / b,
                         a % b,
                         divideUnsigned(a, b),
                         remainderUnsigned(a, b),
                         maximum(a, b),
                         ceilDivideUnsigned(a, b),
                         minimum(a, b),
                         minimumUnsigned(a, b),
                         isLessUnsigned(a, b).widen(i64)};
    for (auto [index, result] : llvm::enumerate(results))
      code.store(result, code.address(given.out, i64, code.constant(int64_t(index))));
  });
  using Numbers = std::vector<int64_t>;
  const Numbers nothing(9, 0);
  CHECK(run<int64_t, int64_t>(code, {7, 2}, nothing) == Numbers{3, 1, 3, 1, 7, 4, 2, 2, 0});
  CHECK(run<int64_t, int64_t>(code, {2, 7}, nothing) == Numbers{0, 2, 0, 2, 7, 1, 2, 2, 1});
  CHECK(run<int64_t, int64_t>(code, {-6, 4}, nothing) ==
        Numbers{-1, -2, int64_t((~uint64_t(0) - 5) / 4), 2, 4, int64_t((~uint64_t(0) - 2) / 4), -6, 4, 0});
}

TEST_CASE("One comparison tells whether either of two floats is NaN", "[codegen]") {
  const Loaded code = loadCode([](CodeBuilder &code, const Given &given) {
    const Type f32 = code.getF32Type(), i8 = code.getI8Type();
    const Emitted a = code.load(f32, given.in), b = code.load(f32, code.address(given.in, f32, code.constant(1)));
    code.store(isEitherNan(a, b).widen(i8), given.out);
  });
  const auto isEither = [&](float a, float b) { return run<int8_t, float>(code, {a, b}, {0})[0] != 0; };
  CHECK_FALSE(isEither(0, INFINITY));
  CHECK(isEither(NAN, 1));
  CHECK(isEither(1, NAN));
  CHECK(isEither(NAN, NAN));
}
