// hoist-shadows: a function of a variable alone moves from its readers to the variable's writers.
// SPDX-License-Identifier: Apache-2.0
//
//   func @main(%x, %w {halftone.variable = @w}) -> (%w1 {halftone.variable = @w}) {
//     %c = cast %w : f32 to bf16;  ... %c ...;  %w1 = sub %w, %d
//     return %w1
// becomes
//   shadow @w_bf16 of @w { cast }
//   func @main(%x, %w {...}, %c {halftone.shadow = @w_bf16}) -> (%w1 {...}, %c1 {halftone.shadow = @w_bf16}) {
//     ... %c ...;  %w1 = sub %w, %d;  %c1 = cast %w1 : f32 to bf16
//     return %w1, %c1
// A pack of a cast that is kept is a shadow of that shadow, and so never casts again. Of integers that share bytes the
// unpacked ones are kept: each reader would shift all of them.
#include "compiler/passes/Passes.h"
#include "compiler/passes/UnpackedIntegers.h"
#include "compiler/passes/WhenResults.h"
#include "dialect/TypeInference.h"
#include "halftone/DType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include <deque>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_HOISTSHADOWSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether `value` is computed of nothing but constants, by at most `steps` ops one after the other.
bool isConstant(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  return op && steps > 0 && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand, steps - 1); });
}

/// An op that takes integers apart: it shifts by constants, or repeats what such shifts take.
bool unpacks(Operation *op) {
  if (isa<ShlOp, ShrOp>(op))
    return isConstant(op->getOperand(1), 8);
  return isa<BroadcastOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<ShlOp, ShrOp>(user) && unpacks(user); });
}

/// An op that a shadow's function may consist of: one of its first operand, and else of constants. A pack is the last one.
bool mayMove(Operation *op) {
  return (isa<CastOp, TransposeOp, ReshapeOp, PackOp>(op) && !PanelsAttr::of(op->getOperand(0).getType())) ||
         unpacks(op);
}

/// A reshape that no other op of a shadow's function follows: an alias of the kept value, which its readers share.
bool isAlias(Operation *op) {
  return isa<ReshapeOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return !mayMove(user) || isAlias(user); });
}

/// A cast that widens unpacked integers, and whose result is not packed. The shadow keeps the integers, and the readers cast
/// them.
bool widensUnpacked(Operation *op) {
  return isa<CastOp>(op) && isUnpacked(op->getOperand(0)) &&
         llvm::none_of(op->getUsers(), [](Operation *user) { return isa<PackOp>(user); });
}

/// Whether `op`, which uses a value that a shadow may keep, is a part of a longer shadow's function.
bool moves(Operation *op) { return mayMove(op) && !isAlias(op) && !widensUnpacked(op); }

/// A function of the variable that somebody reads: its ops in order, and the values that it is read as.
struct Chain {
  SmallVector<Operation *> ops;
  SmallVector<Value> values;
};

/// Worth keeping: a packed copy, one in fewer bytes, or unpacked integers. (A wider one would cost its readers more than
/// the cast does.)
bool isWorthKeeping(Value variable, Value value) {
  return value.getDefiningOp<PackOp>() || isUnpacked(value) ||
         tensorOf(value).getElementTypeBitWidth() < tensorOf(variable).getElementTypeBitWidth();
}

/// The attributes that decide what `op` computes. A shadow is stored, so that a cast of either kind rounds, whoever asked for
/// it.
DictionaryAttr meaningOf(Operation *op) {
  if (!isa<CastOp>(op))
    return op->getAttrDictionary();
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("origin");
  attributes.erase("kind");
  return attributes.getDictionary(op->getContext());
}

bool sameOp(Operation *a, Operation *b);

/// Whether two operands of unpacking ops are one constant: those in sibling regions are never merged.
bool sameConstant(Value a, Value b) {
  if (a == b)
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one && other && isConstant(a, 8) && isConstant(b, 8) && sameOp(one, other) &&
         llvm::equal(one->getOperands().take_front(), other->getOperands().take_front(), sameConstant);
}

/// Whether two ops are the same function of their first operands.
bool sameOp(Operation *a, Operation *b) {
  return a->getName() == b->getName() && a->getResultTypes() == b->getResultTypes() && meaningOf(a) == meaningOf(b) &&
         llvm::equal(llvm::drop_begin(a->getOperands(), a->getNumOperands() ? 1 : 0),
                     llvm::drop_begin(b->getOperands(), b->getNumOperands() ? 1 : 0), sameConstant);
}

bool sameFunction(ArrayRef<Operation *> known, ArrayRef<Operation *> ops) { return llvm::equal(known, ops, sameOp); }

/// The value of a shadow on entry: an argument of @main, which stands for `ops` of the variable.
struct KeptValue {
  FlatSymbolRefAttr variable, shadow;
  SmallVector<Operation *> ops;
  Value argument;
};

/// A value, or a result that a `when` is to have besides its present ones.
struct NewValue {
  Value value;
  WhenOp when;
  size_t added = 0;
};

/// The results that each `when` is to have besides its present ones. All come at once: a `when` with one more result is
/// a new op with all the others.
class WiderWhens {
public:
  NewValue add(WhenOp when, NewValue onThen, NewValue onElse) {
    auto &results = added[when];
    results.push_back({onThen, onElse});
    return {{}, when, results.size() - 1};
  }
  Value resolve(const NewValue &made) {
    if (!made.when)
      return made.value;
    const size_t present = widened(made.when)->getNumResults() - added[made.when].size();
    return widened(made.when)->getResult(present + made.added);
  }

private:
  WhenOp widened(WhenOp when);

  DenseMap<Operation *, SmallVector<std::pair<NewValue, NewValue>>> added; // the values that the regions yield for them
  DenseMap<Operation *, WhenOp> wider;
};

class HoistShadows : public impl::HoistShadowsPassBase<HoistShadows> {
  void runOnModule() override;
  SmallVector<Chain> chainsOf(Value variable);
  ShadowOp shadowOf(Value variable, FlatSymbolRefAttr symbol, ArrayRef<Operation *> ops, SymbolTable &symbols);
  void keep(func::FuncOp main, SymbolTable &symbols, Value variable, FlatSymbolRefAttr symbol, const Chain &chain);
  void renew(const KeptValue &each, Value fresh, Block &body);
  NewValue ofNewValue(Value fresh, ArrayRef<Operation *> ops, Block &reader);
  void finishSignature(func::FuncOp main);

  SmallVector<std::pair<SmallVector<Operation *>, ShadowOp>> made; // of the present variable
  std::deque<KeptValue> kept;                                      // in the order of the arguments
  DenseMap<Value, SmallVector<const KeptValue *>> keptOf;          // by variable
  SmallVector<std::pair<Attribute, NewValue>> keptResults;         // shadows, as symbols
  WiderWhens whens;
};

SmallVector<Chain> HoistShadows::chainsOf(Value variable) {
  SmallVector<Chain> chains;
  SmallVector<Operation *> path;
  auto visit = [&](auto &&self, Value value) -> void {
    for (Operation *user : value.getUsers()) {
      if (!moves(user))
        continue;
      path.push_back(user);
      Value result = user->getResult(0);
      if (isWorthKeeping(variable, result) &&
          llvm::any_of(result.getUsers(), [](Operation *reader) { return !moves(reader); })) {
        auto *known = llvm::find_if(chains, [&](const Chain &chain) { return sameFunction(chain.ops, path); });
        if (known == chains.end()) {
          chains.push_back({path, {}});
          known = std::prev(chains.end());
        }
        known->values.push_back(result);
      }
      self(self, result);
      path.pop_back();
    }
  };
  visit(visit, variable);
  return chains;
}

/// Makes the constant that `value` is computed of visible where `builder` stands.
void copyConstant(OpBuilder &builder, Value value, IRMapping &copies) {
  if (value.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent()) || copies.contains(value))
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    copyConstant(builder, operand, copies);
  builder.clone(*value.getDefiningOp(), copies);
}

/// `ops` on `value`: those that are there already, for another chain, and new ones behind them.
Value apply(OpBuilder &builder, ArrayRef<Operation *> ops, Value value) {
  for (Operation *op : ops) {
    auto isThere = [&](Operation *user) { return user->getBlock() == builder.getInsertionBlock() && sameOp(op, user); };
    if (auto found = llvm::find_if(value.getUsers(), isThere); found != value.user_end()) {
      value = found->getResult(0);
      builder.setInsertionPointAfter(*found);
      continue;
    }
    IRMapping mapping;
    for (Value operand : op->getOperands().drop_front())
      copyConstant(builder, operand, mapping);
    mapping.map(op->getOperand(0), value);
    value = builder.clone(*op, mapping)->getResult(0);
  }
  return value;
}

/// `when` with the results that were added to it.
WhenOp WiderWhens::widened(WhenOp when) {
  if (WhenOp known = wider.lookup(when))
    return known;
  SmallVector<Value> thenValues, elseValues;
  for (auto [onThen, onElse] : SmallVector<std::pair<NewValue, NewValue>>(added[when])) {
    thenValues.push_back(resolve(onThen));
    elseValues.push_back(resolve(onElse));
  }
  IRRewriter rewriter(when.getContext());
  const WhenOp result = addResults(rewriter, when, thenValues, elseValues); // `when` is but a key of the maps now
  return wider[when] = result;
}

/// `ops` of `fresh`, made where `fresh` is made and so under the same conditions. `reader` ends in the op that needs it. Of a
/// variable's value on entry, what its shadows hold is not made again.
NewValue HoistShadows::ofNewValue(Value fresh, ArrayRef<Operation *> ops, Block &reader) {
  if (auto when = fresh.getDefiningOp<WhenOp>()) {
    unsigned number = cast<OpResult>(fresh).getResultNumber();
    auto inBranch = [&](Region &region) {
      Block &block = region.front();
      return ofNewValue(block.getTerminator()->getOperand(number), ops, block);
    };
    NewValue first = inBranch(when.getThenRegion()), second = inBranch(when.getElseRegion());
    return whens.add(when, first, second);
  }
  size_t known = 0;
  Value source = fresh;
  for (const KeptValue *each : keptOf.lookup(fresh))
    if (each->ops.size() > known && each->ops.size() <= ops.size() &&
        sameFunction(each->ops, ops.take_front(each->ops.size()))) {
      known = each->ops.size();
      source = each->argument;
    }
  OpBuilder builder(reader.getTerminator());
  if (Operation *producer = source.getDefiningOp(); producer && producer->getBlock() == &reader)
    builder.setInsertionPointAfter(producer);
  return {apply(builder, ops.drop_front(known), source), {}};
}

/// The shadow that is `ops` of the variable.
ShadowOp HoistShadows::shadowOf(Value variable, FlatSymbolRefAttr symbol, ArrayRef<Operation *> ops,
                                SymbolTable &symbols) {
  for (auto &[known, shadow] : made)
    if (sameFunction(known, ops))
      return shadow;
  auto type = tensorOf(ops.back()->getResult(0));
  std::string name = symbol.getValue().str();
  if (auto dtype = dtypeOf(type.getElementType()))
    name += "_" + std::string(halftone::name(*dtype));
  if (PanelsAttr::of(type))
    name += "_packed";
  Value source = variable;
  ArrayRef<Operation *> own = ops;
  if (Value packed = ops.back()->getOperand(0); isa<PackOp>(ops.back()) && isWorthKeeping(variable, packed)) {
    source = packed;
    own = ops.take_back();
    symbol = FlatSymbolRefAttr::get(shadowOf(variable, symbol, ops.drop_back(), symbols).getSymNameAttr());
  }
  Operation *main = cast<BlockArgument>(variable).getOwner()->getParentOp();
  OpBuilder builder(main);
  auto shadow = ShadowOp::create(builder, ops.back()->getLoc(), builder.getStringAttr(name), symbol);
  symbols.insert(shadow, Block::iterator(main));
  Block *block = builder.createBlock(&shadow.getBody(), {}, source.getType(), source.getLoc());
  YieldOp::create(builder, shadow.getLoc(), apply(builder, own, block->getArgument(0)));
  made.emplace_back(SmallVector<Operation *>(ops), shadow);
  return shadow;
}

void HoistShadows::keep(func::FuncOp main, SymbolTable &symbols, Value variable, FlatSymbolRefAttr symbol,
                        const Chain &chain) {
  ShadowOp shadow = shadowOf(variable, symbol, chain.ops, symbols);
  Value argument = main.getBody().front().addArgument(shadow.getType(), shadow.getLoc());
  for (Value value : chain.values)
    value.replaceUsesWithIf(argument, [](OpOperand &use) { return !moves(use.getOwner()); });
  kept.push_back({symbol, FlatSymbolRefAttr::get(shadow.getSymNameAttr()), chain.ops, argument});
  keptOf[variable].push_back(&kept.back());
}

/// Gives a shadow the value that belongs to `fresh`, the new value of its variable.
void HoistShadows::renew(const KeptValue &each, Value fresh, Block &body) {
  NewValue value = ofNewValue(fresh, each.ops, body);
  if (value.when || value.value != each.argument)
    keptResults.push_back({each.shadow, value});
}

/// Arguments and results of @main for the shadows. Once for all: each change of a function's type costs as much as the
/// type is long.
void HoistShadows::finishSignature(func::FuncOp main) {
  Builder builder(main.getContext());
  auto tieTo = [&](Attribute shadow) { return builder.getDictionaryAttr(builder.getNamedAttr(shadowAttr, shadow)); };
  SmallVector<DictionaryAttr> arguments, results;
  main.getAllArgAttrs(arguments);
  main.getAllResultAttrs(results);
  Block &body = main.getBody().front();
  for (const KeptValue &each : kept)
    arguments.push_back(tieTo(each.shadow));
  for (auto &[shadow, made] : keptResults) {
    body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(), whens.resolve(made));
    results.push_back(tieTo(shadow));
  }
  main.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  main.setAllArgAttrs(arguments);
  main.setAllResultAttrs(results);
}

void eraseWithOperands(Operation *op) {
  const SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *source = operand.getDefiningOp(); source && isOpTriviallyDead(source))
      eraseWithOperands(source);
}

/// A chain stands behind those that it goes on from, so no value is erased before its turn.
void eraseUnread(ArrayRef<Chain> chains) {
  for (const Chain &chain : chains)
    for (Value value : chain.values)
      if (isOpTriviallyDead(value.getDefiningOp()))
        eraseWithOperands(value.getDefiningOp());
}

void HoistShadows::runOnModule() {
  auto main = getOperation().lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    getOperation().emitError("expected a function @main with a body");
    return signalPassFailure();
  }
  SymbolTable symbols(getOperation());
  kept.clear();
  keptOf.clear();
  keptResults.clear();
  whens = {};
  DenseMap<Attribute, unsigned> resultOf; // by variable
  for (unsigned result = 0; result < main.getNumResults(); ++result)
    if (Attribute symbol = main.getResultAttr(result, variableAttr))
      resultOf[symbol] = result;
  SmallVector<Chain> all;
  for (unsigned index = 0, end = main.getNumArguments(); index < end; ++index) {
    auto symbol = main.getArgAttrOfType<FlatSymbolRefAttr>(index, variableAttr);
    auto variable = symbol ? symbols.lookup<VariableOp>(symbol.getValue()) : VariableOp();
    if (!variable || variable.getRole() != VariableRole::weight)
      continue;
    SmallVector<Chain> chains = chainsOf(main.getArgument(index));
    made.clear();
    for (const Chain &chain : chains)
      keep(main, symbols, main.getArgument(index), symbol, chain);
    llvm::append_range(all, chains);
  }
  if (kept.empty())
    return;
  // Once every shadow is known: a new value may be another variable's old one.
  Block &body = main.getBody().front();
  for (const KeptValue &each : kept)
    if (auto result = resultOf.find(each.variable); result != resultOf.end())
      renew(each, body.getTerminator()->getOperand(result->second), body);
  finishSignature(main);
  eraseUnread(all);
}

} // namespace
} // namespace halftone::compiler
