// Matmul kernels in which M, N and K have several dims each, in any order in memory.
// SPDX-License-Identifier: Apache-2.0
#include "TypedBuffer.h"
#include <cmath>

using namespace halftone;
using namespace halftone::compiler;

TEST_CASE("a matmul is right with several dims of M, N and K", "[matmul]") {
  // c[m0, m1, n1, n0] = sum over k0, k1 of a[k1, m0, k0, m1] * b[n0, k0, n1, k1] * s[n1], stored as c[n0, m0, m1, n1].
  const std::string text = R"(
#a = affine_map<(m0, m1, n0, n1, k0, k1) -> (k1, m0, k0, m1)>
#b = affine_map<(m0, m1, n0, n1, k0, k1) -> (n0, k0, n1, k1)>
#c = affine_map<(m0, m1, n0, n1, k0, k1) -> (m0, m1, n0, n1)>
#own = affine_map<(m0, m1, n0, n1) -> (m0, m1, n0, n1)>
#scale = affine_map<(m0, m1, n0, n1) -> (n1)>
#result = affine_map<(m0, m1, n0, n1) -> (n0, m0, m1, n1)>
func.func @kernel(%m0: index, %m1: index, %n0: index, %n1: index, %k0: index, %k1: index, %tm: index, %tn: index,
                  %a: tensor<?x?x?x?xf32>, %b: tensor<?x?x?x?xf32>, %s: tensor<?xf32>) -> tensor<?x?x?x?xf32>
    attributes {halftone.kind = "matmul", halftone.outer = 0 : i64, halftone.roles = array<i64: 0, 2, 2, 2>,
                halftone.schedule = #halftone_cpu.matmul} {
  %zero = arith.constant 0.0 : f32
  %ce = tensor.empty(%m0, %m1, %n0, %n1) : tensor<?x?x?x?xf32>
  %cf = linalg.fill ins(%zero : f32) outs(%ce : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %c = linalg.generic {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2, 3, 4, 5>, indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) outs(%cf : tensor<?x?x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?x?x?xf32>
  %de = tensor.empty(%n0, %m0, %m1, %n1) : tensor<?x?x?x?xf32>
  %d = linalg.generic {halftone.combine = [""], halftone.dims = array<i64: 0, 1, 2, 3>, indexing_maps = [#own, #scale, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %s : tensor<?x?x?x?xf32>, tensor<?xf32>) outs(%de : tensor<?x?x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %i = linalg.index 3 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %q = arith.addf %p, %f : f32
    linalg.yield %q : f32
  } -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
})";
  const int64_t m0 = 3, m1 = 5, n0 = 7, n1 = 6, k0 = 4, k1 = 9, tm = 12, tn = 32;
  std::vector<int64_t> extents = {m0, m1, n0, n1, k0, k1, tm, tn};
  Buffer a = random("f32", m0 * m1 * k0 * k1, 1), b = random("f32", n0 * n1 * k0 * k1, 2), s = random("f32", n1, 3);
  for (const std::string &target : runnableTargets()) {
    const CpuTarget cpu = targetNamed(target);
    const Loaded code = loadKernel(text, cpu);
    Buffer c, scratch;
    allocate(c, "f32", m0 * m1 * n0 * n1);
    allocate(scratch, "i8", scratchOf(text, extents, cpu));
    void *buffers[] = {a.data(), b.data(), s.data(), c.data()};
    std::memset(scratch.data(), 0, 8);
    code.function(buffers, extents.data(), 0, 2 * 2, scratch.data());
    double worst = 0;
    for (int64_t i0 = 0; i0 < m0; ++i0)
      for (int64_t i1 = 0; i1 < m1; ++i1)
        for (int64_t j0 = 0; j0 < n0; ++j0)
          for (int64_t j1 = 0; j1 < n1; ++j1) {
            double sum = 0;
            for (int64_t x0 = 0; x0 < k0; ++x0)
              for (int64_t x1 = 0; x1 < k1; ++x1)
                sum += a.values[size_t(((x1 * m0 + i0) * k0 + x0) * m1 + i1)] *
                       b.values[size_t(((j0 * k0 + x0) * n1 + j1) * k1 + x1)];
            const double got = decode(c.aligned + 4 * (((j0 * m0 + i0) * m1 + i1) * n1 + j1), "f32");
            worst = std::max(worst, std::fabs(got - (sum * s.values[size_t(j1)] + double(j1))));
          }
    INFO(target);
    CHECK(worst < 1e-4);
  }
}
