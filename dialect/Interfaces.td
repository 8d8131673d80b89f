// The interfaces by which passes ask an op for its gradient, its scalar body and its facts, whichever op it is.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_INTERFACES
#define HALFTONE_INTERFACES

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Halftone_GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Reverse-mode derivative. An op without this interface has no gradient: reaching it from a differentiated value is an
    error, unless `isConstantToGradient` in Gradient.h says that nothing flows through it (integers, comparisons).
  }];
  let methods = [
    InterfaceMethod<[{
      Appends to `gradients` one cotangent per operand, typed as that operand, or a null value when nothing flows to it.
      `cotangents` has one entry per result, typed as that result; entries may be null (zero), at least one is not.
    }], "::llvm::LogicalResult", "buildGradient",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>,
    InterfaceMethod<[{
      Whether a cotangent may flow to the operand. If not, its producers need no gradient.
    }], "bool", "reaches", (ins "::mlir::OpOperand &":$operand), "", "return true;">
  ];
}

def Halftone_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Each result element depends on the operands' elements at the same index alone. All operands and the result have one
    shape.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits arith and math ops that compute one result element from one element of each operand. Operands are signless
      scalars, or vectors of them (bool is i1); floats are already in the arithmetic type (f32 or f64, never narrower), the
      result is in the arithmetic type of the result's element type. Signedness is read from the op's own tensor types.
      A float narrower than f32 is not rounded here: that is the caller's, and for the result of a `cast` it is due at once
      (a cast from f64 or from an integer of 32 bits or more gives an f32 rounded to odd, so that the value rounds once).
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>
  ];
}

def Halftone_ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Facts of an op that computes tensors. They stand with the op (as a trait of OpTraits.td, or as a method where they
    depend on its attributes), so that passes, kernel forms and tools need no lists of ops.
  }];
  let methods = [
    InterfaceMethod<[{
      About how many simple vector ops one element of the result takes.
    }], "int64_t", "getCost", (ins), "", "return 1;">,
    InterfaceMethod<[{
      Whether strictly compiled code gives the bits that the interpreter gives.
    }], "bool", "isExact", (ins), "", "return !ConcreteOp::template hasTrait<::halftone::dialect::Inexact>();">,
    InterfaceMethod<[{
      Whether every kernel that reads the result makes it anew: that takes less than reading it from memory.
    }], "bool", "isGlue", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::Glue>();">,
    InterfaceMethod<[{
      Whether an element of the result depends on the operands' elements at the same index alone, or is glue.
    }], "bool", "isPointwise", (ins), "",
      "return ::mlir::isa<::halftone::dialect::ElementwiseOpInterface>($_op.getOperation()) || $_op.isGlue();">,
    InterfaceMethod<[{
      Whether float results need no rounding if all float operands have values of the results' dtype.
    }], "bool", "keepsDtype", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::KeepsDtype>();">,
    InterfaceMethod<[{
      Whether the result may jump at a small change of a float operand.
    }], "bool", "isDecision", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::Decision>();">
  ];
  let extraClassDeclaration = [{
    /// The cost from which an op counts as a transcendental function: a kernel computes few of them again.
    static constexpr int64_t transcendentalCost = 16;
    bool isTranscendental() { return getCost() >= transcendentalCost; }
  }];
}

def Halftone_LiftOpInterface : OpInterface<"LiftOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    An op in a loop that can compute all steps at once, on operands with a leading axis. Each element of its results is computed
    as in its step: the same sum in the same order. The default serves ops that have no attribute of axes.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether `lift` can compute all steps if these operands have a value for each step, and the others one for all.
    }], "bool", "mayLift", (ins "const ::llvm::SmallBitVector &":$isStacked), "", "return true;">,
    InterfaceMethod<[{
      Creates the op for all steps, and gives its results: each has the type of the op's result with a leading axis. At least one
      operand is stacked, and `mayLift` holds.
    }], "::llvm::SmallVector<::mlir::Value>", "lift",
    (ins "::mlir::OpBuilder &":$builder, "const ::halftone::dialect::StepOperands &":$operands), "",
      "return ::llvm::to_vector_of<::mlir::Value>(::halftone::dialect::cloneOfStacks(builder, $_op.getOperation(), operands)->getResults());">,
    InterfaceMethod<[{
      Whether one op for all steps takes so much less time than one in each step that it pays to store its operands or results for all
      steps. Other ops are lifted together with such an op.
    }], "bool", "leavesLoops", (ins), "", "return false;">
  ];
}

def Halftone_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Values that all processes of the run exchange. Every process runs the same collectives in the same order, so none is ever
    removed, and none stands in a branch or loop.
  }];
  let methods = [
    InterfaceMethod<"The values that this process gives.", "::mlir::OperandRange", "getXs">,
    InterfaceMethod<"One value for each that it gives.", "::mlir::ResultRange", "getOutputs">,
    InterfaceMethod<"The position among the module's collectives, once `bucket-collectives` has set it.",
                    "::std::optional<uint64_t>", "getOrder">,
    InterfaceMethod<"Sets that position.", "void", "setOrder", (ins "::std::optional<uint64_t>":$order)>
  ];
  let verify = [{ return ::halftone::dialect::verifyCollective($_op); }];
}

#endif // HALFTONE_INTERFACES
