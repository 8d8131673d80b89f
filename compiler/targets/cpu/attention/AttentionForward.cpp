// Attention kernels: tiles of queries iterate over the keys, and only one tile of scores is stored.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: queries of one head, transposed; largest = lowest, total = 0, sums = 0
//     for tile of keys that some query sees: scores[key][query] = keys * queries
//       for lanes of queries: largest' of the row and its scores; weights = exp(scores - largest')
//                             total = total * exp(largest - largest') + the weights
//       sums[query] *= exp(largest - largest'); sums += transposed weights * values
//     out = sums / total
//
// Lanes run along queries, so no step of the softmax combines lanes. Tiles of keys that no query sees, because of the
// mask or because `causal` ends after the block's last query, are processed after the others, and only if a row has
// seen no score above that of masked keys: then all keys have equal weights.
#include "compiler/targets/cpu/attention/AttentionForward.h"
#include "compiler/targets/cpu/attention/AttentionMask.h"
#include "compiler/targets/cpu/attention/AttentionPacking.h"
#include "dialect/AttentionConstants.h"
#include <limits>

namespace halftone::compiler {
using namespace mlir;

FailureOr<ForwardForm> ForwardForm::read(const KernelSource &source) {
  const auto &all = source.generics;
  constexpr size_t minCount = 7;
  if (source.dims != attentionDims || all.size() < minCount)
    return source.function.emitError() << "an attention kernel must have " << attentionDims << " dims and at least "
                                       << minCount << " linalg.generic ops";
  ForwardForm form{all[0], all[1], all[2], all[3], all[4], all[3], all[5], {}};
  size_t next = 6;
  if (combinersOf(form.sums)[0].empty()) {
    form.weights = form.sums;
    form.sums = all[next++];
  }
  form.results.assign(all.begin() + long(next), all.end());
  for (auto [contraction, inputs] : {std::pair(form.products, 2), {form.sums, 2}})
    if (combinersOf(contraction)[0] != "sum" || contraction.getNumDpsInputs() != inputs)
      return contraction.emitError("expected a contraction of two tensors");
  return form;
}

namespace {

class ForwardEmitter {
public:
  ForwardEmitter(KernelFrame &frame, ForwardForm form)
      : frame(frame), form(std::move(form)), matrices(frame), packing(matrices), tiles(matrices),
        mask(tiles, this->form.scores, this->form.products.getResult(0)), tileQueries(frame.extents[attentionDims]),
        tileKeys(frame.extents[attentionDims + 1]) {
    const Emitted depth = frame.extents[depthDim], width = frame.extents[widthDim];
    rowsOfLargest = matrices.take(frame.constant(1), tileQueries);
    rowsOfTotal = matrices.take(frame.constant(1), tileQueries);
    rowsOfFactor = matrices.take(frame.constant(1), tileQueries);
    queries = matrices.take(matrices.padded(depth), tileQueries);
    keys = matrices.take(tileKeys, depth);
    values = matrices.take(tileKeys, width);
    scores = matrices.take(tileKeys, tileQueries);
    sums = matrices.take(tileQueries, width);
    if (matrices.pairs)
      weights = matrices.take(tileKeys, tileQueries);
    if (matrices.usesTiles())
      transposedWeights = matrices.take(tileQueries, tileKeys);
  }

  void emit() {
    const Emitted queryTiles = ceilDivide(frame.extents[queryDim], tileQueries);
    frame.loop(frame.blockBegin, frame.blockEnd, frame.constant(1), [&](Emitted block) {
      frame.delinearize(divideUnsigned(block, queryTiles), {batchDim, groupDim, headDim});
      first = inFairOrder(frame, remainderUnsigned(block, queryTiles), queryTiles) * tileQueries;
      count = minimum(tileQueries, frame.extents[queryDim] - first);
      columns = matrices.padded(count);
      emitBlock();
    });
    tiles.end();
  }

private:
  void emitBlock() {
    packing.copyColumns({form.products, 0, queryDim, first, count}, queries);
    watchedQueries = matrices.hasSubnormal(queries, matrices.groups(frame.extents[depthDim]), columns);
    const Emitted one = frame.constant(1), zero = frame.zero(frame.getF32Type());
    matrices.fill(rowsOfLargest, one, columns, zero.like(-std::numeric_limits<float>::max()));
    matrices.fill(rowsOfTotal, one, columns, zero);
    matrices.fill(sums, count, matrices.padded(frame.extents[widthDim]), zero);
    const Emitted all = frame.extents[keyDim];
    const bool causal = frame.source.form.causal;
    if (!causal && !mask)
      walkKeys(frame.constant(0), all, {});
    else
      walkSeenKeys(causal ? minimum(all, first + count) : all, all);
    storeResults();
  }

  /// Whether any row has no score above that of masked keys.
  Emitted seesMaskedKeys() {
    return tiles.holdsForAny(first, count, [&](Emitted column, const Lanes &) {
      return matrices.load(rowsOfLargest, frame.constant(0), column) <= dialect::maskedScore;
    });
  }

  /// First the tiles before `seenEnd` that any query sees, then the other tiles before it, then the tiles from it on.
  enum Round : int64_t { seen, hidden, afterSeen, rounds };

  void walkSeenKeys(Emitted seenEnd, Emitted all) {
    const Emitted none = frame.constant(0), always = frame.constant(frame.getBoolAttr(true));
    const Emitted step = frame.constant(mask ? hidden - seen : afterSeen - seen);
    const Emitted end = frame.constant(frame.source.form.causal ? rounds : afterSeen);
    frame.loop(none, end, step, [&](Emitted round) {
      const auto isFirst = [&] { return Values{always}; };
      const Emitted takes = frame.choose(equal(round, none), isFirst, [&] { return Values{seesMaskedKeys()}; })[0];
      frame.branch(takes, [&] {
        const Emitted isAfterSeen = equal(round, round.like(afterSeen));
        walkKeys(select(isAfterSeen, seenEnd, none), select(isAfterSeen, all, seenEnd), round);
      });
    });
  }

  /// A null `round` means all tiles.
  void walkKeys(Emitted begin, Emitted end, Emitted round) {
    frame.loop(begin, end, tileKeys, [&](Emitted key) {
      const Emitted keyCount = minimum(tileKeys, end - key);
      if (!round || !mask)
        return addKeys(key, keyCount);
      const Emitted isSeen = equal(round, round.like(seen)), isAfterSeen = equal(round, round.like(afterSeen));
      frame.branch(isAfterSeen | differs(isHidden(key, keyCount), isSeen), [&] { addKeys(key, keyCount); });
    });
  }

  /// Whether the keys contribute nothing to a row that sees other keys. An infinity times a weight of 0 would be NaN.
  Emitted isHidden(Emitted key, Emitted keyCount) {
    const auto isNot = [&] { return Values{frame.constant(frame.getBoolAttr(false))}; };
    return frame.choose(mask.seesAny({first, count, key, keyCount}), isNot, [&] {
      packing.copyDepth({form.sums, 1, keyDim, key, keyCount}, values);
      return Values{matrices.isFinite(values, matrices.groups(keyCount), matrices.padded(frame.extents[widthDim]))};
    })[0];
  }

  void addKeys(Emitted key, Emitted keyCount) {
    const Emitted one = frame.constant(1);
    const Emitted depth = matrices.groups(frame.extents[depthDim]), width = matrices.padded(frame.extents[widthDim]);
    packing.copyRows({form.products, 1, keyDim, key, keyCount}, keys);
    packing.copyDepth({form.sums, 1, keyDim, key, keyCount}, values);
    const Emitted watchedKeys = matrices.hasSubnormal(keys, keyCount, depth);
    tiles.multiply({.a = {keys.at, keys.pitch, one},
                    .b = queries,
                    .c = scores,
                    .rows = keyCount,
                    .columns = columns,
                    .depth = depth},
                   either(watchedQueries, watchedKeys));
    matrices.forVectors(columns, [&](Emitted column) { makeWeights(key, keyCount, column); });
    scaleSums();
    const ScratchMatrix factors = packing.packDepth(scores, keyCount, columns, weights);
    const Emitted weightDepth = matrices.groups(keyCount);
    tiles.multiply({.a = packing.transposed(factors, columns, weightDepth, transposedWeights),
                    .b = values,
                    .c = sums,
                    .rows = count,
                    .columns = width,
                    .depth = weightDepth,
                    .continues = true},
                   matrices.hasSubnormal(values, weightDepth, width));
  }

  /// Converts scores to weights, for a vector of queries.
  void makeWeights(Emitted key, Emitted keyCount, Emitted column) {
    const Emitted zero = frame.constant(0), one = frame.constant(1);
    const Emitted before = matrices.load(rowsOfLargest, zero, column);
    frame.index[queryDim] = first + column;
    const Emitted largest = frame.loop(zero, keyCount, one, before, [&](Emitted line, const Values &maxima) {
      frame.index[keyDim] = key + line;
      const Emitted product = matrices.load(scores, line, column);
      const Emitted score = tiles.alongQueries(form.scores, {{form.products.getResult(0), product}});
      matrices.store(score, scores, line, column);
      return Values{select(score > maxima[0], score, maxima[0])};
    })[0];
    const Emitted sum =
        frame.loop(zero, keyCount, one, frame.zero(matrices.vector), [&](Emitted line, const Values &before) {
          frame.index[keyDim] = key + line;
          const Emitted raised = expOfDistance(frame, matrices.load(scores, line, column) - largest);
          const bool drops = form.weights != form.raised;
          matrices.store(drops ? tiles.alongQueries(form.weights, {{form.raised.getResult(0), raised}}) : raised,
                         scores, line, column);
          return Values{before[0] + raised};
        })[0];
    const Emitted factor = expOfDistance(frame, before - largest);
    matrices.store(largest, rowsOfLargest, zero, column);
    matrices.store(factor, rowsOfFactor, zero, column);
    matrices.store(matrices.load(rowsOfTotal, zero, column) * factor + sum, rowsOfTotal, zero, column);
  }

  /// Rescales the sums to the new largest scores.
  void scaleSums() {
    const Emitted width = matrices.padded(frame.extents[widthDim]);
    frame.loop(frame.constant(0), count, frame.constant(1), [&](Emitted row) {
      const Emitted factor = matrices.loadScalar(rowsOfFactor, frame.constant(0), row);
      frame.branch(differs(factor, factor.like(1)), [&] {
        matrices.forVectors(width, [&](Emitted column) {
          matrices.store(matrices.load(sums, row, column) * frame.splat(factor, frame.lanes), sums, row, column);
        });
      });
    });
  }

  void storeResults() {
    for (linalg::GenericOp result : form.results) {
      const bool isOut = llvm::is_contained(dimsOf(result), int(widthDim));
      frame.loop(frame.constant(0), count, frame.constant(1), [&](Emitted row) {
        frame.index[queryDim] = first + row;
        const auto given = [&](Value input, Emitted column) {
          if (input == form.sums.getResult(0))
            return matrices.load(sums, row, column);
          return matrices.loadScalar(input == form.largest.getResult(0) ? rowsOfLargest : rowsOfTotal,
                                     frame.constant(0), row);
        };
        if (isOut)
          tiles.storeAlong(widthDim, result, given);
        else
          tiles.storeScalar(result, [&](Value input) { return given(input, {}); });
      });
    }
  }

  KernelFrame &frame;
  ForwardForm form;
  ScratchMatrices matrices;
  AttentionPacking packing;
  AttentionTiles tiles;
  AttentionMask mask;
  Emitted tileQueries, tileKeys;
  ScratchMatrix weights, transposedWeights; // in pairs, if products take pairs
  ScratchMatrix rowsOfLargest, rowsOfTotal, rowsOfFactor, queries, keys, values, scores, sums;
  Emitted first, count, columns; // of the block's queries; whole vectors of them
  Emitted watchedQueries;        // whether their tile of pairs has a subnormal number
};

} // namespace

FailureOr<std::string> emitAttentionOfTiles(KernelFrame &frame) {
  FailureOr<ForwardForm> form = ForwardForm::read(frame.source);
  if (failed(form) || failed(checkAttentionProduct(frame, {form->products, form->sums})))
    return failure();
  ForwardEmitter(frame, std::move(*form)).emit();
  return attentionMethod(frame.source);
}

int64_t attentionScratchOfTiles(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const int64_t depth = extents[depthDim], width = extents[widthDim];
  const int64_t queries = extents[attentionDims], keys = extents[attentionDims + 1];
  AttentionScratch scratch(source, target);
  for (int row = 0; row < 3; ++row) // largest, total, factor
    scratch.add(1, queries);
  scratch.add(scratch.padded(depth), queries);
  scratch.add(keys, depth);
  scratch.add(keys, width);
  scratch.add(keys, queries);
  scratch.add(queries, width);
  if (scratch.pairs)
    scratch.add(keys, queries);
  if (scratch.usesTiles)
    scratch.add(queries, keys);
  return scratch.bytes;
}

} // namespace halftone::compiler
