// Kernels of attention's gradient: they recompute the weights, for a tile of queries and keys at a time.
// SPDX-License-Identifier: Apache-2.0
//
//   for block: a head of keys, a part of the queries; byQueries = 0
//     for tile of keys: byKeys = byValues = 0
//       for head of queries, for tile of the part: scores[key][query] = keys * queries; upstream = values * byOut
//         for lanes of queries, for key: weight, slope
//         byValues += weights * byOut; byKeys += slopes * queries; byQueries += transposed slopes * keys
//       store byKeys, byValues
//     store byQueries
//
// One block has all keys of its head, and the same queries of each head that shares it, so one thread computes each
// sum, in a fixed order. If there are several parts of the queries, byKeys and byValues of each part are partial
// results. If the `lse` of a row is large, a separate pass first computes the sum of the row's weights.
#include "compiler/targets/cpu/Emitters.h"
#include "compiler/targets/cpu/attention/AttentionMask.h"
#include "compiler/targets/cpu/attention/AttentionPacking.h"
#include "dialect/AttentionConstants.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The generics of the form, in order.
struct BackwardForm {
  linalg::GenericOp products, scores, raised, total, weights, upstream,
      scoreGradients; // total: null if nothing is divided
  linalg::GenericOp byQueries, byKeys, byValues;
  SmallVector<linalg::GenericOp> results;

  static FailureOr<BackwardForm> read(const KernelSource &source) {
    ArrayRef<linalg::GenericOp> left = source.generics;
    constexpr size_t minCount = 9;
    if (source.dims != attentionDims || left.size() < minCount)
      return source.function.emitError() << "an attention_grad kernel must have " << attentionDims
                                         << " dims and at least " << minCount << " linalg.generic ops";
    const auto takeIf = [&](bool exists) { return exists ? left.consume_front() : linalg::GenericOp(); };
    const auto isSum = [&] { return combinersOf(left.front())[0] == "sum"; };
    BackwardForm form;
    form.products = left.consume_front();
    form.scores = left.consume_front();
    form.raised = left.consume_front();
    form.total = takeIf(isSum() && left.front()->getNumOperands() == 2); // the row's scores, and the init
    form.weights = takeIf(!isSum());
    if (!form.weights)
      form.weights = form.raised;
    form.upstream = left.consume_front();
    form.scoreGradients = left.consume_front();
    if (left.size() < 3)
      return source.function.emitError(
          "an attention_grad kernel must have three contractions of weights and the gradients of scores");
    form.byQueries = left.consume_front();
    form.byKeys = left.consume_front();
    form.byValues = left.consume_front();
    form.results.assign(left.begin(), left.end());
    for (linalg::GenericOp each : form.contractions())
      if (combinersOf(each)[0] != "sum" || each.getNumDpsInputs() != 2)
        return each.emitError("expected a contraction of two tensors");
    return form;
  }

  std::array<linalg::GenericOp, 5> contractions() const { return {products, upstream, byQueries, byKeys, byValues}; }

  /// The generic of a result that reads the sums of `contraction`; null if there is none.
  linalg::GenericOp resultOf(linalg::GenericOp contraction) const {
    for (linalg::GenericOp result : results)
      if (llvm::is_contained(result.getInputs(), contraction.getResult(0)))
        return result;
    return {};
  }
};

class BackwardEmitter {
public:
  BackwardEmitter(KernelFrame &frame, BackwardForm form)
      : frame(frame), form(std::move(form)), matrices(frame), packing(matrices), tiles(matrices),
        mask(tiles, this->form.scores, this->form.products.getResult(0)),
        tile{frame.extents[attentionDims], frame.extents[attentionDims + 1]}, one(frame.constant(1)),
        zero(frame.constant(0)), depth(frame.extents[depthDim]), width(frame.extents[widthDim]),
        parts(frame.extents[attentionDims + 2]), run(ceilDivide(frame.extents[queryDim], parts)) {
    totals = matrices.take(frame.extents[headDim], run + tile.queries);
    queries = matrices.take(tile.queries, depth);
    transposedQueries = matrices.take(matrices.padded(depth), tile.queries);
    byOut = matrices.take(tile.queries, width);
    transposedByOut = matrices.take(matrices.padded(width), tile.queries);
    keys = matrices.take(tile.keys, depth);
    values = matrices.take(tile.keys, width);
    byKeys = matrices.take(tile.keys, depth);
    byValues = matrices.take(tile.keys, width);
    scores = matrices.take(tile.keys, tile.queries);
    upstream = matrices.take(tile.keys, tile.queries);
    if (matrices.pairs)
      packed = matrices.take(tile.keys, tile.queries);
    depthKeys = matrices.pairs ? matrices.take(tile.keys, depth) : keys;
    if (matrices.usesTiles())
      transposedScoreGradients = matrices.take(tile.queries, tile.keys);
    byQueries = matrices.take(frame.extents[headDim] * queryRows(), depth);
    for (linalg::GenericOp result : this->form.results)
      if (!frame.source.formOf(result.getResult(0)).partial.empty())
        partials.emplace_back(result, frame.storage.lookup(result.getResult(0)).pointer);
  }

  void emit() {
    frame.loop(frame.blockBegin, frame.blockEnd, one, [&](Emitted block) {
      takeBlock(block);
      const Emitted f32Zero = frame.zero(frame.getF32Type());
      matrices.fill(byQueries, frame.extents[headDim] * queryRows(), matrices.padded(depth), f32Zero);
      if (form.total) {
        matrices.fill(totals, frame.extents[headDim], matrices.padded(end - begin), f32Zero);
        forQueries([&] { frame.branch(hasLargeLse(), [&] { sumRows(); }); });
      }
      if (frame.source.form.causal)
        hasLargeRow = blockHasLargeLse();
      frame.loop(zero, frame.extents[keyDim], tile.keys, [&](Emitted key) { emitKeys(key); });
      storeByQueries();
    });
    tiles.end();
  }

private:
  /// The number of rows of `byQueries` for each head.
  Emitted queryRows() const { return matrices.wholeRows(run); }

  /// Sets the block's heads and queries, and the addresses of its partial results.
  void takeBlock(Emitted block) {
    frame.delinearize(divideUnsigned(block, parts), {batchDim, groupDim});
    const Emitted part = inFairOrder(frame, remainderUnsigned(block, parts), parts);
    begin = minimum(part * run, frame.extents[queryDim]);
    end = minimum(begin + run, frame.extents[queryDim]);
    for (auto &[result, all] : partials) {
      TensorStorage &storage = frame.storage[result.getResult(0)];
      const TensorAccess access = frame.source.accessOf(result, *result.getDpsInitOperand(0));
      storage.pointer = frame.address(all, storage.element, part * frame.size(access.dims));
    }
  }

  /// Calls `body` for each head of queries and tile of the block's queries, with `first`, `count` and `columns` set.
  void forQueries(llvm::function_ref<void()> body) {
    frame.loop(zero, frame.extents[headDim], one, [&](Emitted head) {
      frame.index[headDim] = head;
      frame.loop(begin, end, tile.queries, [&](Emitted at) {
        frame.index[headDim] = head;
        first = at;
        count = minimum(tile.queries, end - first);
        columns = matrices.padded(count);
        body();
      });
    });
  }

  void setKeys(Emitted key) {
    firstKey = key;
    keyCount = minimum(tile.keys, frame.extents[keyDim] - key);
  }

  void copyKeys() {
    packing.copyRows({form.products, 1, keyDim, firstKey, keyCount}, keys);
    watchedKeys = matrices.hasSubnormal(keys, keyCount, matrices.groups(depth));
  }

  /// Multiplies the tile's keys and queries into `scores`.
  void multiplyKeys() {
    packing.copyColumns({form.products, 0, queryDim, first, count}, transposedQueries);
    watchedQueries = matrices.hasSubnormal(transposedQueries, matrices.groups(depth), columns);
    tiles.multiply({.a = {keys.at, keys.pitch, one},
                    .b = transposedQueries,
                    .c = scores,
                    .rows = keyCount,
                    .columns = columns,
                    .depth = matrices.groups(depth)},
                   either(watchedKeys, watchedQueries));
  }

  /// The exponential of a vector of scores at the frame's index.
  Emitted raisedAt(Emitted line, Emitted column) {
    const Emitted products = matrices.load(scores, line, column);
    const Emitted score = tiles.alongQueries(form.scores, {{form.products.getResult(0), products}});
    return tiles.alongQueries(form.raised, {{form.scores.getResult(0), score}});
  }

  /// Whether any row of the tile has a large `lse`, as a completely masked row has.
  Emitted hasLargeLse() {
    OpOperand *lse = form.raised.getDpsInputOperand(form.raised.getInputs()[0] == form.scores.getResult(0) ? 1 : 0);
    const TensorAccess access = frame.source.accessOf(form.raised, *lse);
    return tiles.holdsForAny(first, count, [&](Emitted, const Lanes &lanes) {
      const Emitted row = frame.splat(loadLanes(frame, frame.storage.lookup(lse->get()), access, lanes), frame.lanes);
      return negated(absolute(row) < dialect::largeLse);
    });
  }

  /// Whether any row of the block has a large `lse`.
  Emitted blockHasLargeLse() {
    const Emitted no = frame.constant(frame.getBoolAttr(false));
    return frame.loop(zero, frame.extents[headDim], one, no, [&](Emitted head, const Values &before) {
      frame.index[headDim] = head;
      first = begin;
      count = end - begin;
      return Values{before[0] | hasLargeLse()};
    })[0];
  }

  /// Adds up the weights of the rows of the tile's queries over all keys.
  void sumRows() {
    frame.loop(zero, frame.extents[keyDim], tile.keys, [&](Emitted key) {
      setKeys(key);
      copyKeys();
      multiplyKeys();
      matrices.forVectors(columns, [&](Emitted column) {
        frame.index[queryDim] = first + column;
        const Emitted before = matrices.load(totals, frame.index[headDim], first - begin + column);
        const Emitted sum = frame.loop(zero, keyCount, one, before, [&](Emitted line, const Values &now) {
          frame.index[keyDim] = firstKey + line;
          return Values{now[0] + raisedAt(line, column)};
        })[0];
        matrices.store(sum, totals, frame.index[headDim], first - begin + column);
      });
    });
  }

  void emitKeys(Emitted key) {
    setKeys(key);
    const Emitted f32Zero = frame.zero(frame.getF32Type());
    matrices.fill(byKeys, keyCount, matrices.padded(depth), f32Zero);
    matrices.fill(byValues, keyCount, matrices.padded(width), f32Zero);
    if (frame.source.form.causal)
      frame.branch((key < end) | hasLargeRow, [&] { addQueries(); });
    else
      addQueries();
    storeRows(form.byKeys, keyDim, depthDim, keyCount, firstKey, byKeys, zero);
    storeRows(form.byValues, keyDim, widthDim, keyCount, firstKey, byValues, zero);
  }

  void addQueries() {
    copyKeys();
    packing.copyRows({form.upstream, 1, keyDim, firstKey, keyCount}, values);
    if (matrices.pairs)
      packing.copyDepth({form.products, 1, keyDim, firstKey, keyCount}, depthKeys);
    watchedValues = matrices.hasSubnormal(values, keyCount, matrices.groups(width));
    forQueries([&] {
      if (!frame.source.form.causal && !mask)
        return emitTile();
      // If no query of the tile sees any of its keys, all weights are 0, unless a row is completely masked.
      const Emitted takes = frame.choose(
          seesKeys(), [&] { return Values{frame.constant(frame.getBoolAttr(true))}; },
          [&] { return Values{hasLargeLse()}; })[0];
      frame.branch(takes, [&] { emitTile(); });
    });
  }

  /// Whether any query of the tile may see a key of the tile.
  Emitted seesKeys() {
    const auto byMask = [&] { return mask.seesAny({first, count, firstKey, keyCount}); };
    if (!frame.source.form.causal)
      return byMask();
    const Emitted reaches = first + count > firstKey;
    if (!mask)
      return reaches;
    return frame.choose(
        reaches, [&] { return Values{byMask()}; }, [&] { return Values{frame.constant(frame.getBoolAttr(false))}; })[0];
  }

  void emitTile() {
    packing.copyDepth({form.products, 0, queryDim, first, count}, queries);
    packing.copyDepth({form.upstream, 0, queryDim, first, count}, byOut);
    packing.copyColumns({form.upstream, 0, queryDim, first, count}, transposedByOut);
    multiplyKeys();
    const Emitted watchedByOut = matrices.hasSubnormal(transposedByOut, matrices.groups(width), columns);
    tiles.multiply({.a = {values.at, values.pitch, one},
                    .b = transposedByOut,
                    .c = upstream,
                    .rows = keyCount,
                    .columns = columns,
                    .depth = matrices.groups(width)},
                   either(watchedByOut, watchedValues));
    matrices.forVectors(columns, [&](Emitted column) {
      frame.index[queryDim] = first + column;
      frame.loop(zero, keyCount, one, [&](Emitted line) {
        frame.index[keyDim] = firstKey + line;
        makeScoreGradients(line, column);
      });
    });
    const Emitted row = frame.index[headDim] * queryRows() + (first - begin);
    const ScratchMatrix own{matrices.address(byQueries, row, zero), byQueries.pitch};
    const ScratchMatrix weights = packing.packRows(scores, keyCount, count, packed);
    tiles.multiply({.a = {weights.at, weights.pitch, one},
                    .b = byOut,
                    .c = byValues,
                    .rows = keyCount,
                    .columns = matrices.padded(width),
                    .depth = matrices.groups(count),
                    .continues = true},
                   watchedByOut);
    const ScratchMatrix scoreGradients = packing.packRows(upstream, keyCount, count, packed);
    tiles.multiply({.a = {scoreGradients.at, scoreGradients.pitch, one},
                    .b = queries,
                    .c = byKeys,
                    .rows = keyCount,
                    .columns = matrices.padded(depth),
                    .depth = matrices.groups(count),
                    .continues = true},
                   watchedQueries);
    const ScratchMatrix byKey = packing.packDepth(upstream, keyCount, columns, packed);
    tiles.multiply({.a = packing.transposed(byKey, columns, matrices.groups(keyCount), transposedScoreGradients),
                    .b = depthKeys,
                    .c = own,
                    .rows = count,
                    .columns = matrices.padded(depth),
                    .depth = matrices.groups(keyCount),
                    .continues = true},
                   watchedKeys);
  }

  /// Converts scores to weights, and the cotangents of weights to gradients of scores.
  void makeScoreGradients(Emitted line, Emitted column) {
    const Emitted raised = raisedAt(line, column);
    SmallVector<std::pair<Value, Emitted>> given{{form.raised.getResult(0), raised},
                                                 {form.upstream.getResult(0), matrices.load(upstream, line, column)}};
    if (form.total)
      given.emplace_back(form.total.getResult(0), matrices.load(totals, frame.index[headDim], first - begin + column));
    const Emitted weight = form.weights == form.raised ? raised : tiles.alongQueries(form.weights, given);
    given.emplace_back(form.weights.getResult(0), weight);
    matrices.store(weight, scores, line, column);
    matrices.store(tiles.alongQueries(form.scoreGradients, given), upstream, line, column);
  }

  /// Stores the elements of a result that are computed from rows of sums: `rows` indices of `rowDim` from `firstIndex`
  /// on. Their sums are the rows of `sums` from `firstRow` on.
  void storeRows(linalg::GenericOp contraction, int rowDim, int columnDim, Emitted rows, Emitted firstIndex,
                 const ScratchMatrix &sums, Emitted firstRow) {
    const linalg::GenericOp result = form.resultOf(contraction);
    if (!result)
      return;
    frame.loop(zero, rows, one, [&](Emitted row) {
      frame.index[size_t(rowDim)] = firstIndex + row;
      tiles.storeAlong(columnDim, result,
                       [&](Value, Emitted column) { return matrices.load(sums, firstRow + row, column); });
    });
  }

  void storeByQueries() {
    frame.loop(zero, frame.extents[headDim], one, [&](Emitted head) {
      frame.index[headDim] = head;
      storeRows(form.byQueries, queryDim, depthDim, end - begin, begin, byQueries, head * queryRows());
    });
  }

  /// The kernel's block sizes.
  struct TileSizes {
    Emitted queries, keys;
  };

  KernelFrame &frame;
  BackwardForm form;
  ScratchMatrices matrices;
  AttentionPacking packing;
  AttentionTiles tiles;
  AttentionMask mask;
  TileSizes tile;
  Emitted one, zero, depth, width;
  Emitted parts, run; // the number of parts of the queries, and the number of queries in one
  SmallVector<std::pair<linalg::GenericOp, Emitted>> partials; // partial results, and the first address of each
  Emitted begin, end;                                          // of the block's queries
  Emitted hasLargeRow;                                         // any of their rows has a large `lse`
  ScratchMatrix totals, queries, transposedQueries, byOut, transposedByOut, keys, values, byKeys, byValues, scores,
      upstream, packed, depthKeys, transposedScoreGradients, byQueries;
  Emitted first, count, columns; // of a tile's queries; whole vectors of them
  Emitted firstKey, keyCount;
  Emitted watchedKeys, watchedValues, watchedQueries; // whether a tile of pairs has a subnormal number
};

} // namespace

FailureOr<std::string> emitAttentionGradient(KernelFrame &frame) {
  FailureOr<BackwardForm> form = BackwardForm::read(frame.source);
  if (failed(form) || failed(checkAttentionProduct(frame, form->contractions())))
    return failure();
  BackwardEmitter(frame, std::move(*form)).emit();
  return attentionMethod(frame.source);
}

int64_t attentionGradientScratchBytes(const KernelSource &source, ArrayRef<int64_t> extents, const CpuTarget &target) {
  const int64_t depth = extents[depthDim], width = extents[widthDim], heads = extents[headDim];
  const int64_t queries = extents[attentionDims], keys = extents[attentionDims + 1];
  const int64_t run = ceilDivide(extents[queryDim], extents[attentionDims + 2]); // a block's queries per head
  AttentionScratch scratch(source, target);
  scratch.add(heads, run + queries); // totals
  scratch.add(queries, depth);
  scratch.add(scratch.padded(depth), queries);
  scratch.add(queries, width);
  scratch.add(scratch.padded(width), queries);
  for (const int64_t columns :
       {depth, width, depth, width, queries, queries}) // keys, values, their gradients, scores, upstream
    scratch.add(keys, columns);
  if (scratch.pairs)
    for (const int64_t columns : {queries, depth}) // packed, depthKeys
      scratch.add(keys, columns);
  if (scratch.usesTiles)
    scratch.add(queries, keys);
  scratch.add(heads * scratch.wholeRows(run), depth);
  return scratch.bytes;
}

} // namespace halftone::compiler
