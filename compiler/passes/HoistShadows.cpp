// hoist-shadows: moves functions of a single variable from the users of the variable to its writers.
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
// The pack of a cast that is a shadow is a shadow of that shadow, and so never casts again. For packed integers the
// shadow holds the unpacked integers; otherwise each user would shift all of them.
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

/// Returns true if `value` is computed from constants alone, by a chain of at most `steps` ops.
bool isConstant(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  return op && steps > 0 && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand, steps - 1); });
}

/// Returns true for an op that unpacks integers: one that shifts by constants, or a broadcast that feeds such shifts.
bool unpacks(Operation *op) {
  if (isa<ShlOp, ShrOp>(op))
    return isConstant(op->getOperand(1), 8);
  return isa<BroadcastOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<ShlOp, ShrOp>(user) && unpacks(user); });
}

/// Returns true for an op that may be part of a shadow's function: a function of its first operand and of constants. A
/// pack is the last op.
bool mayMove(Operation *op) {
  return (isa<CastOp, TransposeOp, ReshapeOp, PackOp>(op) && !PanelsAttr::of(op->getOperand(0).getType())) ||
         unpacks(op);
}

/// Returns true for a reshape that no other op of a shadow's function follows: an alias of the stored value, which its
/// users share.
bool isAlias(Operation *op) {
  return isa<ReshapeOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return !mayMove(user) || isAlias(user); });
}

/// Returns true for a cast that widens unpacked integers and whose result is not packed. The shadow holds the integers,
/// and the users cast them.
bool widensUnpacked(Operation *op) {
  return isa<CastOp>(op) && isUnpacked(op->getOperand(0)) &&
         llvm::none_of(op->getUsers(), [](Operation *user) { return isa<PackOp>(user); });
}

/// Returns true if `op`, which uses a value that a shadow may hold, belongs to a longer shadow's function.
bool moves(Operation *op) { return mayMove(op) && !isAlias(op) && !widensUnpacked(op); }

/// A function of the variable that has users: its ops in order, and the values that the users read.
struct Chain {
  SmallVector<Operation *> ops;
  SmallVector<Value> values;
};

/// Returns true if a shadow pays: for a packed copy, for one of fewer bytes, or for unpacked integers. (Reading a wider
/// one would cost more than the cast.)
bool isWorthKeeping(Value variable, Value value) {
  return value.getDefiningOp<PackOp>() || isUnpacked(value) ||
         tensorOf(value).getElementTypeBitWidth() < tensorOf(variable).getElementTypeBitWidth();
}

/// The attributes that determine what `op` computes. A shadow is stored, so a cast of either kind and of any origin
/// rounds.
DictionaryAttr meaningOf(Operation *op) {
  if (!isa<CastOp>(op))
    return op->getAttrDictionary();
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("origin");
  attributes.erase("kind");
  return attributes.getDictionary(op->getContext());
}

bool sameOp(Operation *a, Operation *b);

/// Returns true if two operands of unpacking ops are the same constant. Constants in sibling regions are never merged.
bool sameConstant(Value a, Value b) {
  if (a == b)
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one && other && isConstant(a, 8) && isConstant(b, 8) && sameOp(one, other) &&
         llvm::equal(one->getOperands().take_front(), other->getOperands().take_front(), sameConstant);
}

/// Returns true if two ops are the same function of their first operands.
bool sameOp(Operation *a, Operation *b) {
  return a->getName() == b->getName() && a->getResultTypes() == b->getResultTypes() && meaningOf(a) == meaningOf(b) &&
         llvm::equal(llvm::drop_begin(a->getOperands(), a->getNumOperands() ? 1 : 0),
                     llvm::drop_begin(b->getOperands(), b->getNumOperands() ? 1 : 0), sameConstant);
}

bool sameFunction(ArrayRef<Operation *> known, ArrayRef<Operation *> ops) { return llvm::equal(known, ops, sameOp); }

/// The value of a shadow on entry: an argument of @main that represents `ops` applied to the variable.
struct KeptValue {
  FlatSymbolRefAttr variable, shadow;
  SmallVector<Operation *> ops;
  Value argument;
};

/// A value, or a result to be added to a `when`.
struct NewValue {
  Value value;
  WhenOp when;
  size_t added = 0;
};

/// The results to be added to each `when`. They are added at once, since a `when` with one more result is a new op with
/// all the others.
class WiderWhens {
public:
  NewValue add(WhenOp when, NewValue onThen, NewValue onElse) {
    auto &results = added[when];
    results.push_back({onThen, onElse});
    return {{}, when, results.size() - 1};
  }
  Value resolve(const NewValue &created) {
    if (!created.when)
      return created.value;
    const size_t present = widened(created.when)->getNumResults() - added[created.when].size();
    return widened(created.when)->getResult(present + created.added);
  }

private:
  WhenOp widened(WhenOp when);

  DenseMap<Operation *, SmallVector<std::pair<NewValue, NewValue>>> added; // yielded for the added results
  DenseMap<Operation *, WhenOp> wider;
};

class HoistShadows : public impl::HoistShadowsPassBase<HoistShadows> {
  void runOnModule() override;
  SmallVector<Chain> chainsOf(Value variable);
  ShadowOp shadowOf(Value variable, FlatSymbolRefAttr symbol, ArrayRef<Operation *> ops, SymbolTable &symbols);
  void keep(func::FuncOp main, SymbolTable &symbols, Value variable, FlatSymbolRefAttr symbol, const Chain &chain);
  void updateShadow(const KeptValue &each, Value fresh, Block &body);
  NewValue ofNewValue(Value fresh, ArrayRef<Operation *> ops, Block &reader);
  void finishSignature(func::FuncOp main);

  SmallVector<std::pair<SmallVector<Operation *>, ShadowOp>> created; // of the current variable
  std::deque<KeptValue> kept;                                         // in the order of the arguments
  DenseMap<Value, SmallVector<const KeptValue *>> keptOf;             // by variable
  SmallVector<std::pair<Attribute, NewValue>> keptResults;            // shadows, as symbols
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

/// Makes the constant expression `value` available at the insertion point of `builder`.
void copyConstant(OpBuilder &builder, Value value, IRMapping &copies) {
  if (value.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent()) || copies.contains(value))
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    copyConstant(builder, operand, copies);
  builder.clone(*value.getDefiningOp(), copies);
}

/// Applies `ops` to `value`: reuses the ops that another chain has created, and creates new ones after them.
Value apply(OpBuilder &builder, ArrayRef<Operation *> ops, Value value) {
  for (Operation *op : ops) {
    auto isReusable = [&](Operation *user) {
      return user->getBlock() == builder.getInsertionBlock() && sameOp(op, user);
    };
    if (auto found = llvm::find_if(value.getUsers(), isReusable); found != value.user_end()) {
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

/// Returns `when` with the results that were added to it.
WhenOp WiderWhens::widened(WhenOp when) {
  if (WhenOp known = wider.lookup(when))
    return known;
  SmallVector<Value> thenValues, elseValues;
  for (auto [onThen, onElse] : SmallVector<std::pair<NewValue, NewValue>>(added[when])) {
    thenValues.push_back(resolve(onThen));
    elseValues.push_back(resolve(onElse));
  }
  IRRewriter rewriter(when.getContext());
  const WhenOp result = addResults(rewriter, when, thenValues, elseValues); // `when` is only a map key now
  return wider[when] = result;
}

/// Applies `ops` to `fresh`, where `fresh` is computed and thus under the same conditions. `reader` is the block whose
/// terminator needs the result. What shadows hold of a variable's value on entry is not recomputed.
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

/// Returns the shadow that holds `ops` applied to the variable.
ShadowOp HoistShadows::shadowOf(Value variable, FlatSymbolRefAttr symbol, ArrayRef<Operation *> ops,
                                SymbolTable &symbols) {
  for (auto &[known, shadow] : created)
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
  created.emplace_back(SmallVector<Operation *>(ops), shadow);
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

/// Updates a shadow with the value that belongs to `fresh`, the new value of its variable.
void HoistShadows::updateShadow(const KeptValue &each, Value fresh, Block &body) {
  NewValue value = ofNewValue(fresh, each.ops, body);
  if (value.when || value.value != each.argument)
    keptResults.push_back({each.shadow, value});
}

/// Adds the arguments and results of @main for all shadows at once: each change of a function's type takes time linear
/// in the length of the type.
void HoistShadows::finishSignature(func::FuncOp main) {
  Builder builder(main.getContext());
  auto tieTo = [&](Attribute shadow) { return builder.getDictionaryAttr(builder.getNamedAttr(shadowAttr, shadow)); };
  SmallVector<DictionaryAttr> arguments, results;
  main.getAllArgAttrs(arguments);
  main.getAllResultAttrs(results);
  Block &body = main.getBody().front();
  for (const KeptValue &each : kept)
    arguments.push_back(tieTo(each.shadow));
  for (auto &[shadow, created] : keptResults) {
    body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(), whens.resolve(created));
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

/// A chain comes after those that it extends, so no value is erased too early.
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
    created.clear();
    for (const Chain &chain : chains)
      keep(main, symbols, main.getArgument(index), symbol, chain);
    llvm::append_range(all, chains);
  }
  if (kept.empty())
    return;
  // Runs once every shadow is known: a new value may be another variable's old value.
  Block &body = main.getBody().front();
  for (const KeptValue &each : kept)
    if (auto result = resultOf.find(each.variable); result != resultOf.end())
      updateShadow(each, body.getTerminator()->getOperand(result->second), body);
  finishSignature(main);
  eraseUnread(all);
}

} // namespace
} // namespace halftone::compiler
