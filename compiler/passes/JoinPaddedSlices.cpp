// Rewrites sums of zero-padded slices as sums of few concats.
// SPDX-License-Identifier: Apache-2.0
//
//   %a = concat %p, %z;  %b = concat %z, %q;  %y = add %a, %b
// becomes
//   %0 = concat %p, %q;  %y = add %0, +0.0
// The gradient of a value that is split into n slices is such a sum. It reads each element n times; the concats read it
// once.
#include "compiler/passes/ExactRewrites.h"
#include "dialect/Dialect.h"
#include "dialect/TypeInference.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
namespace {

bool isPositiveZero(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return false;
  auto splat = elements.getSplatValue<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(splat))
    return real.getValue().isPosZero();
  auto integer = dyn_cast<IntegerAttr>(splat);
  return integer && integer.getValue().isZero();
}

struct Range {
  int64_t begin, end;
  bool operator==(const Range &) const = default;
};
using Box = SmallVector<Range, 4>; // by axis

Box boxOf(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector<4>(shape, [](int64_t extent) { return Range{0, extent}; });
}

/// A value that is zero outside of a box: a padded slice (`slice`), or joined terms (`parts`).
struct Term {
  Box box;
  Value whole;                                    // the value itself, if it is in the module
  Value slice;                                    // its elements in the box, before `casts`; null for joined terms
  SmallVector<CastOp, 1> casts;                   // of the slice, in order of application
  int64_t axis = 0;                               // along which `parts` are concatenated
  std::map<int64_t, std::shared_ptr<Term>> parts; // by first index along `axis`; do not overlap
};
using TermPtr = std::shared_ptr<Term>;

/// If `value` is a concat of one slice and zeros, returns the slice and narrows `box` to its position; otherwise null.
Value paddedSliceOf(Value value, Box &box) {
  auto concat = value.getDefiningOp<ConcatOp>();
  if (!concat)
    return {};
  const auto axis = static_cast<int64_t>(concat.getAxis());
  Value slice;
  int64_t begin = box[axis].begin;
  for (Value x : concat.getXs()) {
    if (isPositiveZero(x)) {
      begin += slice ? 0 : tensorTypeOf(x).getDimSize(axis);
      continue;
    }
    if (slice || tensorTypeOf(x).getNumElements() == 0)
      return {};
    slice = x;
  }
  if (slice)
    box[axis] = {begin, begin + tensorTypeOf(slice).getDimSize(axis)};
  return slice;
}

/// Returns `value` as a padded slice. A cast preserves zeros, so that a cast of a padded slice is a padded cast of the
/// slice.
TermPtr termOf(Value value) {
  auto term = std::make_shared<Term>();
  term->box = boxOf(tensorTypeOf(value).getShape());
  term->whole = term->slice = value;
  SmallVector<CastOp, 1> casts; // in reverse order; of a padded value if a concat precedes them
  for (Value inner = value; inner;) {
    if (auto cast = inner.getDefiningOp<CastOp>(); cast && cast->hasOneUse()) {
      casts.push_back(cast);
      inner = cast.getX();
    } else if ((inner = paddedSliceOf(inner, term->box))) {
      term->slice = inner;
      term->casts.insert(term->casts.begin(), casts.rbegin(), casts.rend());
      casts.clear();
    }
  }
  return term;
}

/// Terms that do not overlap along one axis. The second term determines the axis.
class Layer {
public:
  explicit Layer(const TermPtr &first) : only(first) {}
  /// The axis along which `box` overlaps no term, if any.
  std::optional<int64_t> axisFor(const Box &box) const;
  void take(const TermPtr &term, int64_t axis);
  TermPtr term() const { return joined ? joined : only; }

private:
  TermPtr only, joined; // `joined` is null until there are two terms
};

std::optional<int64_t> Layer::axisFor(const Box &box) const {
  const auto areDisjoint = [](Range a, Range b) { return a.end <= b.begin || b.end <= a.begin; };
  if (joined) {
    const int64_t axis = joined->axis;
    auto next = joined->parts.lower_bound(box[axis].begin);
    const bool fits = (next == joined->parts.end() || areDisjoint(next->second->box[axis], box[axis])) &&
                      (next == joined->parts.begin() || areDisjoint(std::prev(next)->second->box[axis], box[axis]));
    return fits ? std::optional(axis) : std::nullopt;
  }
  std::optional<int64_t> found;
  for (auto [axis, range] : llvm::enumerate(box)) {
    if (!areDisjoint(only->box[axis], range))
      continue;
    found = found.value_or(axis);
    Box moved = box;
    moved[axis] = only->box[axis];
    if (moved == only->box) // the boxes differ only along this axis
      return axis;
  }
  return found;
}

void Layer::take(const TermPtr &term, int64_t axis) {
  if (!joined) {
    joined = std::make_shared<Term>();
    joined->axis = axis;
    joined->box = only->box;
    joined->parts[only->box[axis].begin] = only;
  }
  joined->parts[term->box[axis].begin] = term;
  for (auto [hull, range] : llvm::zip_equal(joined->box, term->box))
    hull = {std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
}

/// Joins the terms of a sum into fewer. A term comes after every earlier one that it overlaps, so that each element is
/// the same sum in the same order, except for zeros. Only the last layers accept terms, so that the time is linear.
SmallVector<TermPtr> join(ArrayRef<TermPtr> terms) {
  constexpr size_t maxOpen = 16;
  SmallVector<Layer> layers;
  for (const TermPtr &term : terms) {
    std::optional<int64_t> axis;
    const size_t lowest = layers.size() - std::min(layers.size(), maxOpen);
    size_t position = layers.size();
    while (position > lowest) {
      const std::optional<int64_t> here = layers[position - 1].axisFor(term->box);
      if (!here)
        break;
      axis = here;
      --position;
    }
    if (axis)
      layers[position].take(term, *axis);
    else
      layers.emplace_back(term);
  }
  return llvm::map_to_vector(layers, [](const Layer &layer) { return layer.term(); });
}

/// A range of an axis that is covered by the same terms of a sum.
struct Segment {
  Range range;
  SmallVector<size_t, 4> terms; // in the order of the sum
};

/// Splits an axis where a term begins or ends, so that overlapping slices, such as sliding windows, take time
/// proportional to their own elements. Returns no segments if terms cover too many of them for that, or if all terms
/// cover one segment.
SmallVector<Segment> segmentsOf(ArrayRef<TermPtr> terms, int64_t axis) {
  constexpr size_t maxForOneTerm = 8;
  std::map<int64_t, size_t> positions; // from the beginning of each segment to its index
  for (const TermPtr &term : terms) {
    positions[term->box[axis].begin];
    positions[term->box[axis].end];
  }
  SmallVector<Segment> segments;
  for (auto position = positions.begin(); std::next(position) != positions.end(); ++position) {
    position->second = segments.size();
    segments.push_back({{position->first, std::next(position)->first}, {}});
  }
  positions.rbegin()->second = segments.size();
  size_t covered = 0;
  for (auto [index, term] : llvm::enumerate(terms)) {
    const size_t begin = positions[term->box[axis].begin], end = positions[term->box[axis].end];
    covered += end - begin;
    if (covered > maxForOneTerm * terms.size())
      return {};
    for (size_t each = begin; each < end; ++each)
      segments[each].terms.push_back(index);
  }
  const auto isFull = [&](const Segment &segment) { return segment.terms.size() == terms.size(); };
  return llvm::any_of(segments, isFull) ? SmallVector<Segment>() : segments;
}

/// Writes terms as ops.
class TermWriter {
public:
  TermWriter(PatternRewriter &rewriter, Location loc, RankedTensorType type)
      : rewriter(rewriter), loc(loc), type(type) {}
  Value write(const Term &term) { return term.whole ? term.whole : write(term, boxOf(type.getShape())); }
  /// Writes the sum of the terms with fewer additions, except for zeros; null if no addition can be saved.
  Value writeSum(ArrayRef<TermPtr> terms);
  Value zeros(const Box &box) {
    auto shape = llvm::map_to_vector(box, [](Range range) { return range.end - range.begin; });
    auto zero = rewriter.getZeroAttr(type.clone(shape));
    return ConstantOp::create(rewriter, loc, type.clone(shape), cast<ElementsAttr>(zero));
  }

private:
  /// Writes the sum of the terms of each segment of `axis`, and the concat of the segments.
  Value write(ArrayRef<TermPtr> terms, ArrayRef<Segment> segments, int64_t axis);
  /// Writes the elements of the term in `region`, which contains its box.
  Value write(const Term &term, const Box &region);
  Value concat(const std::map<int64_t, Value> &values, int64_t axis, const Box &region);

  PatternRewriter &rewriter;
  Location loc;
  RankedTensorType type; // of the sum
};

Value TermWriter::write(const Term &term, const Box &region) {
  Box box = term.box;
  Value value = term.slice;
  for (CastOp each : term.casts) {
    Operation *moved = rewriter.clone(*each);
    rewriter.modifyOpInPlace(moved, [&] {
      moved->setOperand(0, value);
      moved->getResult(0).setType(tensorTypeOf(value).clone(tensorTypeOf(each.getResult()).getElementType()));
    });
    value = moved->getResult(0);
  }
  if (!term.parts.empty()) {
    box[term.axis] = region[term.axis];
    std::map<int64_t, Value> values;
    for (const auto &[begin, part] : term.parts) {
      Box own = box;
      own[term.axis] = part->box[term.axis];
      values[begin] = write(*part, own);
    }
    value = concat(values, term.axis, box);
  }
  for (auto [axis, range] : llvm::enumerate(region)) {
    if (box[axis] == range)
      continue;
    const int64_t begin = box[axis].begin;
    box[axis] = range;
    value = concat({{begin, value}}, axis, box);
  }
  return value;
}

Value TermWriter::write(ArrayRef<TermPtr> terms, ArrayRef<Segment> segments, int64_t axis) {
  std::map<int64_t, Value> sums;
  Box region = boxOf(type.getShape());
  for (const Segment &segment : segments) {
    region[axis] = segment.range;
    Value sum;
    for (const size_t index : segment.terms) {
      Term part = *terms[index];
      SmallVector<int64_t> start(region.size(), 0), shape(tensorTypeOf(part.slice).getShape());
      start[axis] = segment.range.begin - part.box[axis].begin;
      shape[axis] = segment.range.end - segment.range.begin;
      part.slice = SliceOp::create(rewriter, loc, tensorTypeOf(part.slice).clone(shape), part.slice, start);
      part.box[axis] = segment.range;
      Value value = write(part, region);
      sum = sum ? AddOp::create(rewriter, loc, value.getType(), sum, value).getResult() : value;
    }
    if (sum)
      sums[segment.range.begin] = sum;
  }
  return concat(sums, axis, boxOf(type.getShape()));
}

/// Concatenates the values along `axis`, given by their first index, with zeros between them and on both sides.
Value TermWriter::concat(const std::map<int64_t, Value> &values, int64_t axis, const Box &region) {
  SmallVector<Value> all;
  int64_t end = region[axis].begin;
  const auto fillTo = [&](int64_t begin) {
    Box gap = region;
    gap[axis] = {end, begin};
    if (end < begin)
      all.push_back(zeros(gap));
  };
  for (const auto &[begin, value] : values) {
    fillTo(begin);
    all.push_back(value);
    end = begin + tensorTypeOf(value).getDimSize(axis);
  }
  fillTo(region[axis].end);
  auto shape = llvm::map_to_vector(region, [](Range range) { return range.end - range.begin; });
  return ConcatOp::create(rewriter, loc, type.clone(shape), all, axis);
}

Value TermWriter::writeSum(ArrayRef<TermPtr> terms) {
  constexpr size_t maxWhole = 8; // each takes time proportional to the size of the whole sum
  SmallVector<TermPtr> joined(terms);
  for (size_t before = joined.size() + 1; joined.size() < before;) {
    before = joined.size();
    joined = join(joined);
  }
  if (joined.size() > maxWhole && joined.size() > terms.size() / maxWhole)
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (const SmallVector<Segment> segments = segmentsOf(terms, axis); segments.size() > 1)
        return write(terms, segments, axis);
  if (joined.size() == terms.size())
    return {};
  Value sum;
  for (const TermPtr &term : joined) {
    Value value = write(*term);
    sum = sum ? AddOp::create(rewriter, loc, type, sum, value).getResult() : value;
  }
  return sum;
}

/// The next sum of the chain: the only user of `op`, if it is a sum in the same block with `op` as left operand.
/// Otherwise null.
AddOp nextOf(AddOp op) {
  if (!op->hasOneUse())
    return {};
  auto next = dyn_cast<AddOp>(*op->user_begin());
  return next && next->getBlock() == op->getBlock() && next.getLhs() == op.getResult() ? next : AddOp();
}

/// Rewrites a whole chain of sums, starting at the last one. A term is zero outside of its box. If no element is in all
/// boxes, a zero is therefore added to every element. A sum with +0.0 is never -0.0, and zeros do not otherwise change
/// a sum, so that a single +0.0 at the end replaces all the zeros that were removed.
struct JoinPaddedSlices : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    if (nextOf(op))
      return rewriter.notifyMatchFailure(op, "a later sum of the chain is visited instead");
    SmallVector<TermPtr> terms;
    const auto add = [&](Value value) {
      if (auto sum = value.getDefiningOp<AddOp>(); sum && sum->hasOneUse() && isPositiveZero(sum.getRhs()))
        value = sum.getLhs();
      if (!isPositiveZero(value))
        terms.push_back(termOf(value));
    };
    AddOp first = op;
    for (add(op.getRhs());;) {
      auto before = first.getLhs().getDefiningOp<AddOp>();
      if (!before || nextOf(before) != first)
        break;
      first = before;
      add(first.getRhs());
    }
    add(first.getLhs());
    std::reverse(terms.begin(), terms.end());
    const RankedTensorType type = tensorTypeOf(op.getResult());
    TermWriter writer(rewriter, op.getLoc(), type);
    Value sum = writer.writeSum(terms);
    if (!sum)
      return rewriter.notifyMatchFailure(op, "the terms are not disjoint padded slices");
    rewriter.replaceOpWithNewOp<AddOp>(op, type, sum, writer.zeros(boxOf(type.getShape())));
    return success();
  }
};

/// The first position, if `indices` are constants that, clamped to the axis, are consecutive in ascending order.
std::optional<int64_t> firstOfNeighbours(Value indices, int64_t extent) {
  DenseIntElementsAttr positions;
  if (!matchPattern(indices, m_Constant(&positions)) || positions.empty())
    return std::nullopt;
  std::optional<int64_t> first;
  int64_t next = 0;
  for (const APInt &position : positions) {
    const int64_t clamped = std::clamp<int64_t>(position.getSExtValue(), 0, extent - 1);
    if (first && clamped != next)
      return std::nullopt;
    first = first.value_or(clamped);
    next = clamped + 1;
  }
  return first;
}

/// Rewrites a scatter_add to constant consecutive positions, such as the gradient of a lookup of one, as padded
/// updates. It adds each update to a zero, which turns -0.0 into +0.0.
struct PadKnownPositions : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op, PatternRewriter &rewriter) const override {
    const RankedTensorType type = tensorTypeOf(op.getY()), updates = tensorTypeOf(op.getUpdates());
    const auto axis = static_cast<int64_t>(op.getAxis());
    if (op.getBatch() != 0 || type.getElementType() != updates.getElementType() || type.getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "it has batch axes, changes the dtype, or has no elements");
    const std::optional<int64_t> first = firstOfNeighbours(op.getIndices(), type.getDimSize(axis));
    if (!first)
      return rewriter.notifyMatchFailure(op, "the indices are not constants that are consecutive in ascending order");
    Term term;
    term.box = boxOf(type.getShape());
    term.box[axis] = {*first, *first + tensorTypeOf(op.getIndices()).getNumElements()};
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = term.box[axis].end - *first;
    term.slice = ReshapeOp::create(rewriter, op.getLoc(), type.clone(shape), op.getUpdates());
    TermWriter writer(rewriter, op.getLoc(), type);
    Value padded = writer.write(term);
    rewriter.replaceOpWithNewOp<AddOp>(op, type, padded, writer.zeros(boxOf(type.getShape())));
    return success();
  }
};

} // namespace

void populateJoinPaddedSlices(RewritePatternSet &patterns) {
  patterns.add<JoinPaddedSlices, PadKnownPositions>(patterns.getContext());
}

} // namespace halftone::compiler
