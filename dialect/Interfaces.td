// The op interfaces: gradients, scalar bodies and properties of ops.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_INTERFACES
#define HALFTONE_INTERFACES

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Halftone_GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Reverse-mode derivative. An op without this interface has no gradient: it is an error if differentiation reaches it,
    unless `isConstantToGradient` in Gradient.h says that no cotangent flows through it (integers, comparisons).
  }];
  let methods = [
    InterfaceMethod<[{
      Appends to `gradients` one cotangent per operand, of the operand's type, or a null value if no cotangent flows to
      it. `cotangents` has one entry per result, of the result's type; entries may be null (zero), but not all of them.
    }], "::llvm::LogicalResult", "buildGradient",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$cotangents,
         "::llvm::SmallVectorImpl<::mlir::Value> &":$gradients)>,
    InterfaceMethod<[{
      Returns true if a cotangent may flow to the operand. Otherwise its producers need no gradient.
    }], "bool", "reaches", (ins "::mlir::OpOperand &":$operand), "", "return true;">
  ];
}

def Halftone_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Elementwise ops: each element of the result depends only on the elements of the operands at the same index. All
    operands and the result have the same shape.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits arith and math ops that compute one result element from one element of each operand. Operands are signless
      scalars, or vectors of them (bool is i1); floats are already in the arithmetic type (f32 or f64, never narrower), the
      result is in the arithmetic type of the result's element type. Signedness is taken from the op's tensor types. The
      method does not round to floats narrower than f32; the caller does, and for the result of a `cast` immediately (a
      cast from f64 or from an integer of 32 bits or more gives an f32 rounded to odd, so that the value is rounded only
      once).
    }], "::mlir::Value", "buildScalar",
    (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>
  ];
}

def Halftone_ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Properties of an op that computes tensors. They are declared with the op, as a trait of OpTraits.td or as a method
    if they depend on its attributes, so that passes, kernel forms and tools need no lists of ops.
  }];
  let methods = [
    InterfaceMethod<[{
      The approximate number of simple vector ops per element of the result.
    }], "int64_t", "getCost", (ins), "", "return 1;">,
    InterfaceMethod<[{
      Returns true if code in strict numerics is bit-identical to the interpreter.
    }], "bool", "isExact", (ins), "", "return !ConcreteOp::template hasTrait<::halftone::dialect::Inexact>();">,
    InterfaceMethod<[{
      Returns true if the op is cloned into every kernel that reads its result: computing it is cheaper than a load.
    }], "bool", "isAlwaysCloned", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::AlwaysCloned>();">,
    InterfaceMethod<[{
      Returns true if the op is elementwise or always cloned.
    }], "bool", "isPointwise", (ins), "",
      "return ::mlir::isa<::halftone::dialect::ElementwiseOpInterface>($_op.getOperation()) || $_op.isAlwaysCloned();">,
    InterfaceMethod<[{
      Returns true if float results need no rounding whenever all float operands are representable in the results'
      dtype.
    }], "bool", "keepsDtype", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::KeepsDtype>();">,
    InterfaceMethod<[{
      Returns true if the result is discontinuous in a float operand.
    }], "bool", "isDecision", (ins), "", "return ConcreteOp::template hasTrait<::halftone::dialect::Decision>();">
  ];
  let extraClassDeclaration = [{
    /// The cost from which an op counts as transcendental: kernels recompute only a few of those.
    static constexpr int64_t transcendentalCost = 16;
    bool isTranscendental() { return getCost() >= transcendentalCost; }
  }];
}

def Halftone_LiftOpInterface : OpInterface<"LiftOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Ops in a loop that can compute all steps at once, on operands with a leading axis. Each element of the results is
    computed as in its step, with the same sums in the same order. The default implementation is for ops without axis
    attributes.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns true if `lift` can compute all steps when these operands have a value per step and the others are
      invariant.
    }], "bool", "mayLift", (ins "const ::llvm::SmallBitVector &":$isStacked), "", "return true;">,
    InterfaceMethod<[{
      Creates the op for all steps, and returns its results, which have the types of the op's results with a leading
      axis. Requires at least one stacked operand, and `mayLift`.
    }], "::llvm::SmallVector<::mlir::Value>", "lift",
    (ins "::mlir::OpBuilder &":$builder, "const ::halftone::dialect::StepOperands &":$operands), "",
      "return ::llvm::to_vector_of<::mlir::Value>(::halftone::dialect::cloneOfStacks(builder, $_op.getOperation(), operands)->getResults());">,
    InterfaceMethod<[{
      Returns true if one op for all steps is faster by more than the cost of storing its operands or results for all
      steps. Other ops are lifted only together with such an op.
    }], "bool", "leavesLoops", (ins), "", "return false;">
  ];
}

def Halftone_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::halftone::dialect";
  let description = [{
    Collective communication among all processes of the run. Every process runs the same collectives in the same order,
    so they are never removed, and must not be in a branch or loop.
  }];
  let methods = [
    InterfaceMethod<"The values that this process contributes.", "::mlir::OperandRange", "getXs">,
    InterfaceMethod<"One result per contributed value.", "::mlir::ResultRange", "getOutputs">,
    InterfaceMethod<"The position among the collectives of the module; set by `bucket-collectives`.",
                    "::std::optional<uint64_t>", "getOrder">,
    InterfaceMethod<"Sets that position.", "void", "setOrder", (ins "::std::optional<uint64_t>":$order)>
  ];
  let verify = [{ return ::halftone::dialect::verifyCollective($_op); }];
}

#endif // HALFTONE_INTERFACES
