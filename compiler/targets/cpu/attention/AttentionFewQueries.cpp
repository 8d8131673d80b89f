// Attention kernels of few queries: a block is one query of one head, and reads keys and values in place.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: one query; largest = lowest, total = 0, sums = 0
//     for tile of keys that the query sees:
//       for lanes of keys: scores = query * keys, summed along the depth
//       largest' = the largest of largest and the scores; weights = exp(scores - largest')
//       total = total * exp(largest - largest') + the weights
//       for lanes of a value: sums = sums * exp(largest - largest') + weights * values
//     out = sums / total
//
// Lanes run along the keys in scores, and along a value in sums. Tiles that the query does not see are processed last,
// as in AttentionForward.cpp.
#include "compiler/kernels/AttentionDims.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/kernels/MatmulSource.h"
#include "compiler/targets/cpu/attention/AttentionForward.h"
#include "compiler/targets/cpu/attention/AttentionMask.h"
#include "compiler/targets/cpu/attention/AttentionTiles.h"
#include "dialect/AttentionConstants.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Loads and stores vectors of f32 for one query: operand elements in place, with lanes along a dim, and rows of whole
/// vectors in scratch.
class QueryVectors {
public:
  explicit QueryVectors(KernelFrame &frame)
      : frame(frame), vector(VectorType::get(frame.lanes, frame.getF32Type())), step(frame.constant(frame.lanes)) {}

  /// Loops over the vectors of `dim`; the last one is masked.
  void along(int dim, llvm::function_ref<void(Emitted, const Lanes &)> body) {
    const Emitted extent = frame.extents[size_t(dim)], wholeEnd = wholeOf(extent);
    frame.loop(frame.constant(0), wholeEnd, step, [&](Emitted at) { body(at, lanesAt(dim, at, false)); });
    frame.loop(wholeEnd, extent, step, [&](Emitted at) { body(at, lanesAt(dim, at, true)); });
  }

  /// Loops over vectors of `count` keys; `body` gets the index of the first key and the value so far, and returns the
  /// next value.
  Emitted overKeys(Emitted count, Emitted start, llvm::function_ref<Emitted(Emitted, Emitted)> body) {
    return frame.loop(frame.constant(0), count, step, start,
                      [&](Emitted line, const Values &before) { return Values{body(line, before[0])}; })[0];
  }

  /// The lanes of the vector of `dim` at index `at`; in the tail, those past the dim's end are masked.
  Lanes lanesAt(int dim, Emitted at, bool isTail) {
    frame.index[size_t(dim)] = at;
    return isTail ? maskedLanes(frame, frame.lanes, dim, frame.extents[size_t(dim)]) : Lanes{frame.lanes, dim};
  }

  /// The lanes of the keys from `key` + `line` on; keys from `key` + `count` on are masked.
  Lanes lanesOfKeys(Emitted key, Emitted count, Emitted line) {
    frame.index[keyDim] = key + line;
    return maskedLanes(frame, frame.lanes, keyDim, key + count);
  }

  /// Adjacent vectors of a value, contiguous in memory. The tail is one vector that ends inside.
  struct Strip {
    Emitted column;
    int64_t vectors = 1;
    bool isTail = false;
  };

  /// Loops over the strips of a value; `body` maps the carried values to the next ones.
  Values alongStrips(ArrayRef<Emitted> start, llvm::function_ref<Values(const Strip &, const Values &)> body) {
    constexpr int64_t maxVectors = 4;
    const Emitted wide = frame.constant(maxVectors * frame.lanes), extent = frame.extents[widthDim];
    const Emitted wideEnd = divideUnsigned(extent, wide) * wide, wholeEnd = wholeOf(extent);
    const auto loop = [&](Emitted begin, Emitted end, int64_t vectors, bool isTail, const Values &carried) {
      return frame.loop(begin, end, frame.constant(vectors * frame.lanes), carried,
                        [&](Emitted at, const Values &now) { return body({at, vectors, isTail}, now); });
    };
    Values carried = loop(frame.constant(0), wideEnd, maxVectors, false, Values(start));
    carried = loop(wideEnd, wholeEnd, 1, false, carried);
    return loop(wholeEnd, extent, 1, true, carried);
  }

  /// A vector of a factor of `contraction` in f32; 0 in masked lanes.
  Emitted factorOf(linalg::GenericOp contraction, int side, const Lanes &lanes) {
    OpOperand *operand = contraction.getDpsInputOperand(side);
    const TensorAccess access = frame.source.accessOf(contraction, *operand);
    const Emitted stored = loadLanes(frame, frame.storage.lookup(operand->get()), access, lanes);
    return MatmulSource::factor(frame, contraction, side, selectInside(lanes, stored, stored.like(0)), frame.lanes);
  }

  /// valueOf() in all lanes; `given` holds the values of inputs that are not in memory.
  Emitted inLanes(linalg::GenericOp generic, const Lanes &lanes, ArrayRef<std::pair<Value, Emitted>> given) {
    return frame.splat(valueOf(frame, generic, lanes, given), lanes.count);
  }

  Emitted multiplyAdd(Emitted x, Emitted y, Emitted sum) {
    if (!frame.target.math.hasFma)
      return sum + x * y;
    return frame.wrap(math::FmaOp::create(frame, x.value(), y.value(), sum.value()));
  }
  Emitted wholeOf(Emitted extent) { return divideUnsigned(extent, step) * step; }
  Emitted load(Emitted from, Emitted column) {
    return frame.load(vector, frame.address(from, frame.getF32Type(), column),
                      frame.lanes * elementBytes(vector.getElementType()));
  }
  void store(Emitted value, Emitted to, Emitted column) {
    frame.store(value, frame.address(to, frame.getF32Type(), column),
                frame.lanes * elementBytes(vector.getElementType()));
  }

  KernelFrame &frame;
  VectorType vector;
  Emitted step; // lanes of a vector
};

class FewQueriesEmitter {
public:
  FewQueriesEmitter(KernelFrame &frame, ForwardForm form)
      : frame(frame), form(std::move(form)), isMasked(hidesKeys(frame.source, this->form.scores)), vectors(frame),
        tileKeys(frame.extents[attentionDims + 1]) {
    const auto addressAfter = [&](Emitted at, Emitted count) {
      return frame.address(at, frame.getF32Type(), ceilDivide(count, vectors.step) * vectors.step);
    };
    query = frame.scratch;
    scores = addressAfter(query, frame.extents[depthDim]);
    sums = addressAfter(scores, tileKeys);
  }

  void emit() {
    frame.loop(frame.blockBegin, frame.blockEnd, frame.constant(1), [&](Emitted block) {
      frame.delinearize(block, {batchDim, groupDim, headDim, queryDim});
      emitBlock();
    });
  }

private:
  // The state of a row during the loop over keys: its largest score, in all lanes, and its total, one partial sum per
  // lane.
  enum State : size_t { largest, total };

  void emitBlock() {
    vectors.along(depthDim, [&](Emitted column, const Lanes &lanes) {
      vectors.store(vectors.factorOf(form.products, 0, lanes), query, column);
    });
    const Emitted zero = frame.zero(vectors.vector), none = frame.constant(0), all = frame.extents[keyDim];
    frame.loop(none, frame.extents[widthDim], vectors.step, [&](Emitted column) { vectors.store(zero, sums, column); });
    const Values start{zero.like(-std::numeric_limits<float>::max()), zero};
    const bool causal = frame.source.form.causal;
    if (!causal && !isMasked)
      return storeResults(walkKeys(none, all, {}, start));
    storeResults(walkSeenKeys(causal ? minimum(all, frame.index[queryDim] + 1) : all, all, start));
  }

  /// First the tiles before `seenEnd` that the query sees, then the other tiles before it, then the tiles from it on.
  enum Round : int64_t { seen, hidden, afterSeen, rounds };

  Values walkSeenKeys(Emitted seenEnd, Emitted all, const Values &start) {
    const Emitted none = frame.constant(0), always = frame.constant(frame.getBoolAttr(true));
    const Emitted next = frame.constant(isMasked ? hidden - seen : afterSeen - seen);
    const Emitted end = frame.constant(frame.source.form.causal ? rounds : afterSeen);
    return frame.loop(none, end, next, start, [&](Emitted round, const Values &now) {
      const auto isFirst = [&] { return Values{always}; };
      const auto seesMaskedKeys = [&] { return Values{lane(now[largest]) <= dialect::maskedScore}; };
      const auto walk = [&] {
        const Emitted isAfterSeen = equal(round, round.like(afterSeen));
        return walkKeys(select(isAfterSeen, seenEnd, none), select(isAfterSeen, all, seenEnd), round, now);
      };
      return frame.choose(frame.choose(equal(round, none), isFirst, seesMaskedKeys)[0], walk, [&] { return now; });
    });
  }

  /// A null `round` means all tiles.
  Values walkKeys(Emitted begin, Emitted end, Emitted round, const Values &start) {
    return frame.loop(begin, end, tileKeys, start, [&](Emitted key, const Values &now) {
      const Emitted count = minimum(tileKeys, end - key);
      if (!round || !isMasked)
        return addKeys(key, count, now);
      const Emitted isSeen = equal(round, round.like(seen)), isAfterSeen = equal(round, round.like(afterSeen));
      return frame.choose(
          isAfterSeen | differs(isHidden(key, count), isSeen), [&] { return addKeys(key, count, now); },
          [&] { return now; });
    });
  }

  /// Whether the keys contribute nothing to a row that sees other keys. An infinity times a weight of 0 would be NaN.
  Emitted isHidden(Emitted key, Emitted count) {
    const auto isNot = [&] { return Values{frame.constant(frame.getBoolAttr(false))}; };
    return frame.choose(seesAny(key, count), isNot, [&] { return Values{areFinite(key, count)}; })[0];
  }

  Emitted seesAny(Emitted key, Emitted count) {
    // A masked key's score does not depend on its product, so no score computed from infinity is that of a masked key.
    const Emitted product = frame.zero(vectors.vector).like(std::numeric_limits<float>::infinity());
    const Emitted no = frame.constant(frame.getI32IntegerAttr(0));
    const Emitted found = vectors.overKeys(count, frame.splat(no, frame.lanes), [&](Emitted line, Emitted before) {
      const Lanes lanes = vectors.lanesOfKeys(key, count, line);
      const Emitted score = vectors.inLanes(form.scores, lanes, {{form.products.getResult(0), product}});
      const Emitted isSeen = differs(score, score.like(dialect::maskedScore)) & lanes.mask;
      return before | isSeen.widen(frame.getI32Type());
    });
    return isAnySet(frame, found);
  }

  /// Whether the values of the keys contain neither an infinity nor a NaN.
  Emitted areFinite(Emitted key, Emitted count) {
    const auto add = [](Emitted sum, Emitted, Emitted value) { return sum + (value - value); };
    const Emitted difference =
        vectors.alongStrips(frame.zero(vectors.vector), [&](const QueryVectors::Strip &strip, const Values &before) {
          const Values start(size_t(strip.vectors), before[0].like(0));
          Emitted all = before[0];
          for (const Emitted &sum : sumsOverValues(key, count, strip, start, add))
            all = all + sum;
          return Values{all};
        })[0]; // 0; NaN for infinity and NaN
    const Emitted all = combineLanes(frame, {"sum"}, {difference})[0];
    return equal(all, all.like(0));
  }

  Values addKeys(Emitted key, Emitted count, const Values &now) {
    const Emitted lowest = now[largest].like(-std::numeric_limits<float>::max());
    const Emitted maxima = vectors.overKeys(count, now[largest], [&](Emitted line, Emitted before) {
      const Emitted product = productsOf(key, count, line);
      const Lanes lanes = vectors.lanesOfKeys(key, count, line);
      const Emitted score = vectors.inLanes(form.scores, lanes, {{form.products.getResult(0), product}});
      vectors.store(score, scores, line);
      return select(selectInside(lanes, score, lowest) > before, score, before);
    });
    const Emitted highest = frame.splat(combineLanes(frame, {"max"}, {maxima})[0], frame.lanes);
    const Emitted factor = expOfDistance(frame, now[largest] - highest);
    const Emitted sum = vectors.overKeys(count, frame.zero(vectors.vector), [&](Emitted line, Emitted before) {
      const Lanes lanes = vectors.lanesOfKeys(key, count, line);
      const Emitted raised = expOfDistance(frame, vectors.load(scores, line) - highest);
      const bool drops = form.weights != form.raised;
      vectors.store(drops ? vectors.inLanes(form.weights, lanes, {{form.raised.getResult(0), raised}}) : raised, scores,
                    line);
      return before + selectInside(lanes, raised, raised.like(0));
    });
    addValues(key, count, factor);
    return {highest, now[total] * factor + sum};
  }

  /// The products of the query with a vector of keys from `line` on. Lanes after the last key repeat its product.
  Emitted productsOf(Emitted key, Emitted count, Emitted line) {
    Values each(size_t(frame.lanes), frame.zero(vectors.vector));
    const Emitted depth = frame.extents[depthDim], wholeEnd = vectors.wholeOf(depth);
    for (const bool isTail : {false, true})
      each = frame.loop(isTail ? wholeEnd : frame.constant(0), isTail ? depth : wholeEnd, vectors.step, each,
                        [&](Emitted column, const Values &before) {
                          const Lanes lanes = vectors.lanesAt(depthDim, column, isTail);
                          const Emitted ofQuery = vectors.load(query, column);
                          Values next;
                          for (int64_t member = 0; member < frame.lanes; ++member) {
                            frame.index[keyDim] = key + minimum(line + member, count - 1);
                            const Emitted ofKey = vectors.factorOf(form.products, 1, lanes);
                            next.push_back(vectors.multiplyAdd(ofQuery, ofKey, before[size_t(member)]));
                          }
                          return next;
                        });
    Values sums = frame.transpose(each);
    for (size_t half = sums.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i)
        sums[i] = sums[i] + sums[i + half];
    return sums[0];
  }

  /// Multiplies the sums by `factor`, and adds the values times the weights in `scores`.
  void addValues(Emitted key, Emitted count, Emitted factor) {
    const auto add = [&](Emitted sum, Emitted weight, Emitted value) {
      return vectors.multiplyAdd(weight, value, sum);
    };
    vectors.alongStrips({}, [&](const QueryVectors::Strip &strip, const Values &) {
      const auto columnOf = [&](size_t number) { return strip.column + int64_t(number) * frame.lanes; };
      Values start;
      for (size_t number = 0; number < size_t(strip.vectors); ++number)
        start.push_back(vectors.load(sums, columnOf(number)) * factor);
      for (auto [number, sum] : llvm::enumerate(sumsOverValues(key, count, strip, start, add)))
        vectors.store(sum, sums, columnOf(number));
      return Values();
    });
  }

  /// For each vector of the strip, the sum that starts as its `start` and to which `add(sum, weight, value)` adds each
  /// key. Since each addition waits for the previous one, several partial sums of a vector alternate; they are added up
  /// at the end.
  Values sumsOverValues(Emitted key, Emitted count, const QueryVectors::Strip &strip, const Values &start,
                        llvm::function_ref<Emitted(Emitted, Emitted, Emitted)> add) {
    constexpr int64_t inFlight = 8;
    const int64_t partialSums = strip.vectors == 1 ? inFlight / 2 : inFlight / strip.vectors;
    const auto width = size_t(strip.vectors); // in vectors
    const auto added = [&](ArrayRef<Emitted> before, Emitted line) {
      frame.index[keyDim] = key + line;
      const Emitted weight = frame.load(frame.getF32Type(), frame.address(scores, frame.getF32Type(), line));
      const Emitted inLanes = frame.splat(weight, frame.lanes);
      Values next;
      for (size_t number = 0; number < width; ++number) {
        const Lanes lanes = vectors.lanesAt(widthDim, strip.column + int64_t(number) * frame.lanes, strip.isTail);
        next.push_back(add(before[number], inLanes, vectors.factorOf(form.sums, 1, lanes)));
      }
      return next;
    };
    const Emitted wholeEnd = divideUnsigned(count, count.like(partialSums)) * partialSums;
    Values each = start;
    each.resize(width * size_t(partialSums), start[0].like(0));
    each = frame.loop(
        frame.constant(0), wholeEnd, frame.constant(partialSums), each, [&](Emitted line, const Values &now) {
          Values next;
          for (int64_t partial = 0; partial < partialSums; ++partial)
            next.append(added(ArrayRef<Emitted>(now).slice(size_t(partial) * width, width), line + partial));
          return next;
        });
    const ArrayRef<Emitted> all(each);
    Values sum = frame.loop(wholeEnd, count, frame.constant(1), all.take_front(width),
                            [&](Emitted line, const Values &now) { return added(now, line); });
    for (int64_t partial = 1; partial < partialSums; ++partial)
      for (size_t number = 0; number < width; ++number)
        sum[number] = sum[number] + each[size_t(partial) * width + number];
    return sum;
  }

  void storeResults(const Values &state) {
    const Emitted sumOfLanes = combineLanes(frame, {"sum"}, {state[total]})[0], maxima = lane(state[largest]);
    for (linalg::GenericOp result : form.results) {
      const TensorAccess access = frame.source.accessOf(result, *result.getDpsInitOperand(0));
      const TensorStorage storage = frame.storage.lookup(result.getResult(0));
      const auto storeAt = [&](Emitted sum, const Lanes &lanes) {
        const Emitted value = vectors.inLanes(result, lanes,
                                              {{form.sums.getResult(0), sum},
                                               {form.largest.getResult(0), maxima},
                                               {form.total.getResult(0), sumOfLanes}});
        storeLanes(frame, value, storage, access, lanes);
      };
      if (llvm::is_contained(dimsOf(result), int(widthDim)))
        vectors.along(widthDim,
                      [&](Emitted column, const Lanes &lanes) { storeAt(vectors.load(sums, column), lanes); });
      else
        storeAt({}, {});
    }
  }

  Emitted lane(Emitted of) { return frame.wrap(vector::ExtractOp::create(frame, of.value(), int64_t(0))); }
  KernelFrame &frame;
  ForwardForm form;
  bool isMasked;
  QueryVectors vectors;
  Emitted tileKeys;
  Emitted query, scores, sums; // rows of scratch, of whole vectors
};

} // namespace

FailureOr<std::string> emitAttentionOfFewQueries(KernelFrame &frame) {
  FailureOr<ForwardForm> form = ForwardForm::read(frame.source);
  if (failed(form))
    return failure();
  FewQueriesEmitter(frame, std::move(*form)).emit();
  return std::string("multiply-add, one query at a time");
}

int64_t attentionScratchOfFewQueries(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const int64_t lanes = lanesOf(source, target);
  return itemsize(DType::float32) * (roundUp(extents[depthDim], lanes) + roundUp(extents[attentionDims + 1], lanes) +
                                     roundUp(extents[widthDim], lanes));
}

} // namespace halftone::compiler
