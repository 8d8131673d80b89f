// keras.ops.linalg on Values: factorizations and linear systems, with closed-form gradients.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Linalg.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Decompositions.h"
#include "frontend/ops/Determinants.h"
#include "frontend/ops/Matrices.h"
#include "frontend/ops/Operations.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

Value transposed(const Value &x) { return matrixTranspose(x); }
double epsilonOf(const Value &x) {
  return x.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}
/// The thin factors. The gradients of pseudoinverses do not use theirs.
Singular thinSvd(const Value &a) { return svdOf(a, false); }
Config configOfNumber(const char *key, std::optional<double> number) {
  return number ? configOf(key, *number) : Config();
}
/// The largest singular value of each matrix, (batch, 1).
Value largestOf(const Value &s) {
  return s.shape()[1] == 0 ? tracing().splat(0, Shape({s.shape()[0], 1}), s.dtype())
                           : tracing().slice(s, {0, 0}, Shape({s.shape()[0], 1}));
}
void requireLeastSquares(const Shape &a, const Shape &b) {
  if (a.rank() != 2)
    throw Error(ErrorKind::value_error, fmt::format("Expected a to have rank 2. Received: a.shape={}", a.str()));
  if (b.rank() != 1 && b.rank() != 2)
    throw Error(ErrorKind::value_error, fmt::format("Expected b to have rank 1 or 2. Received: b.shape={}", b.str()));
  if (a[0] != b[0])
    throw Error(ErrorKind::value_error,
                fmt::format("Expected b.shape[0] to be equal to a.shape[0]. Received: a.shape={}, b.shape={}", a.str(),
                            b.str()));
}

} // namespace

Value cholesky(const Value &x, bool upper) {
  if (isSymbolic(x))
    return recordOperation("Cholesky", {x}, configOf("upper", upper));
  return applyOne("cholesky", {x}, [upper](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    const Value l = choleskyOf(symmetrized(m.x));
    return m.restored(upper ? transposed(l) : l);
  });
}
Value cholesky_inverse(const Value &x, bool upper) {
  if (isSymbolic(x))
    return recordOperation("CholeskyInverse", {x}, configOf("upper", upper));
  return applyOne("cholesky_inverse", {x}, [upper](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    const Value inverse = triangularSolutionOf(m.x, identityLike(m.x, m.rows(), m.rows()), !upper);
    return m.restored(upper ? matmul(inverse, transposed(inverse)) : matmul(transposed(inverse), inverse));
  });
}
Value inv(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Inv", {x});
  return applyOne("inv", {x}, [](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    return m.restored(solutionOf(m.x, identityLike(m.x, m.rows(), m.rows()), luOf(m.x)));
  });
}
std::array<Value, 2> eigh(const Value &x) {
  const auto f = [](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    const auto [values, vectors] = eighOf(symmetrized(m.x));
    return List{m.restored(values), m.restored(vectors)};
  };
  const List results = isSymbolic(x) ? recordOperations("Eigh", {x}) : apply("eigh", {x}, f);
  return {results[0], results[1]};
}
std::array<Value, 2> lu_factor(const Value &x) {
  const auto f = [](const List &v) {
    const Matrices m = matricesOf(v[0]);
    const LuFactors factors = luOf(m.x);
    return List{m.restored(factors.lu), m.unbatched(factors.pivots)};
  };
  const List results = isSymbolic(x) ? recordOperations("LuFactor", {x}) : apply("lu_factor", {x}, f);
  return {results[0], results[1]};
}
std::array<Value, 2> qr(const Value &x, const Choice<QrMode> &mode) {
  const auto f = [mode](const List &v) {
    const Matrices m = matricesOf(v[0]);
    const auto [q, r] = qrOf(m.x, mode == QrMode::complete);
    return List{m.restored(q), m.restored(r)};
  };
  const List results =
      isSymbolic(x) ? recordOperations("Qr", {x}, configOf("mode", std::string(mode.word()))) : apply("qr", {x}, f);
  return {results[0], results[1]};
}
Value solve(const Value &a, const Value &b) {
  if (isSymbolic(a) || isSymbolic(b))
    return recordOperation("Solve", {a, b});
  return applyOne("solve", {a, b}, [](const List &v) {
    const System system = systemOf(v[0], v[1]);
    return system.restored(solutionOf(system.a.x, system.b.x, luOf(system.a.x)));
  });
}
Value solve_triangular(const Value &a, const Value &b, bool lower) {
  if (isSymbolic(a) || isSymbolic(b))
    return recordOperation("SolveTriangular", {a, b}, configOf("lower", lower));
  return applyOne("solve_triangular", {a, b}, [lower](const List &v) {
    const System system = systemOf(v[0], v[1]);
    return system.restored(triangularSolutionOf(system.a.x, system.b.x, lower));
  });
}
Values svd(const Value &x, const SvdArgs &args) {
  if (isSymbolic(x)) {
    Config config = configOf("full_matrices", args.full_matrices);
    setField(config, "compute_uv", args.compute_uv);
    return recordOperations("SVD", {x}, config);
  }
  return apply("svd", {x}, [args](const List &v) {
    const Matrices m = matricesOf(v[0]);
    const Singular of = svdOf(m.x, args.full_matrices && args.compute_uv);
    return args.compute_uv ? List{m.restored(of.u), m.restored(of.s), m.restored(transposed(of.v))}
                           : List{m.restored(of.s)};
  });
}

Value det(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Det", {x});
  return applyOne("det", {x}, [](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    return m.restored(determinantOf(m.x));
  });
}
std::array<Value, 2> slogdet(const Value &x) {
  const auto f = [](const List &v) {
    const Matrices m = squareMatrices(v[0]);
    const auto [signs, logarithms] = signAndLogOf(m.x);
    return List{m.restored(signs), m.restored(logarithms)};
  };
  const List results = isSymbolic(x) ? recordOperations("Slogdet", {x}) : apply("slogdet", {x}, f);
  return {results[0], results[1]};
}
Value logdet(const Value &x) {
  if (isSymbolic(x))
    return recordOperation("Logdet", {x});
  return slogdet(x)[1];
}
Value lstsq(const Value &a, const Value &b, std::optional<double> rcond) {
  if (isSymbolic(a) || isSymbolic(b))
    return recordOperation("Lstsq", {a, b}, configOfNumber("rcond", rcond));
  return applyOne("lstsq", {a, b}, [rcond](const List &v) {
    requireLeastSquares(v[0].shape(), v[1].shape());
    const bool isVector = v[1].rank() == 1;
    const DType dtype = floatOf(result_type(v[0].dtype(), v[1].dtype()));
    const Matrices m = matricesOf(asDtype(v[0], dtype)),
                   right = matricesOf(asDtype(isVector ? expand_dims(v[1], -1) : v[1], dtype));
    const Value a = m.x, b = right.x;
    const Singular by = thinSvd(a);
    const double cutoff = rcond ? (*rcond < 0 ? epsilonOf(a) : *rcond)
                                : epsilonOf(a) * static_cast<double>(std::max(m.rows(), m.columns()));
    const Value counts = logical_and(greater(by.s, 0), greater_equal(by.s, largestOf(by.s) * cutoff));
    const Value inverse = expand_dims(where(counts, 1.0 / where(counts, by.s, 1), 0), 2);
    const Value result = m.restored(matmul(by.v, inverse * matmul(transposed(by.u), b)));
    return isVector ? squeeze(result, {-1}) : result;
  });
}
Value matrix_rank(const Value &x, std::optional<double> tol) {
  if (isSymbolic(x))
    return recordOperation("MatrixRank", {x}, configOfNumber("tol", tol));
  return applyOne("matrix_rank", {x}, [tol](const List &v) {
    const Matrices m = matricesOf(v[0]);
    const Value s = thinSvd(m.x).s;
    const double relative = epsilonOf(m.x) * static_cast<double>(std::max(m.rows(), m.columns()));
    return m.unbatched(count_nonzero(tol ? greater(s, *tol) : greater(s, largestOf(s) * relative), {1}));
  });
}
Value pinv(const Value &x, std::optional<double> rcond) {
  if (isSymbolic(x))
    return recordOperation("Pinv", {x}, configOfNumber("rcond", rcond));
  return applyOne("pinv", {x}, [rcond](const List &v) {
    const Matrices m = matricesOf(v[0]);
    const double relative = rcond ? *rcond : 10 * epsilonOf(m.x) * static_cast<double>(std::max(m.rows(), m.columns()));
    const Singular by = thinSvd(stop_gradient(m.x));
    return m.restored(pseudoinverseOf(m.x, by, greater(by.s, largestOf(by.s) * relative)));
  });
}

} // namespace halftone::ops
