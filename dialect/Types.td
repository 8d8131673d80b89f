// Type constraints shared by the op families.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_TYPES
#define HALFTONE_TYPES

include "Attrs.td"
include "Interfaces.td"
include "OpTraits.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Halftone_Float : AnyTypeOf<[F16, BF16, F32, F64], "float (not float8)">;
def Halftone_Float8 : AnyTypeOf<[F8E4M3FN, F8E5M2], "float8">;
def Halftone_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64], "integer">;
def Halftone_Element : AnyTypeOf<[I1, Halftone_Int, Halftone_Float, Halftone_Float8], "element">;

/// Tensors without a packed layout (#halftone.panels).
class Halftone_TensorOf<list<Type> types>
    : RankedTensorOf<types, [HasStaticShapePred,
                             CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">],
                     "statically shaped tensor">;
def Halftone_Tensor : Halftone_TensorOf<[Halftone_Element]>;
def Halftone_AnyTensor : StaticShapeTensorOf<[Halftone_Element]>; // including packed tensors
def Halftone_NumberTensor : Halftone_TensorOf<[Halftone_Int, Halftone_Float]>;
def Halftone_ArithmeticTensor : Halftone_TensorOf<[I1, Halftone_Int, Halftone_Float]>;
def Halftone_FloatTensor : Halftone_TensorOf<[Halftone_Float]>;
def Halftone_IntTensor : Halftone_TensorOf<[Halftone_Int]>;
def Halftone_IntOrBoolTensor : Halftone_TensorOf<[I1, Halftone_Int]>;
def Halftone_BoolTensor : Halftone_TensorOf<[I1]>;
def Halftone_Predicate : Type<0DTensorOf<[I1]>.predicate, "scalar i1 tensor", "::mlir::RankedTensorType">,
                         BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

/// An op that computes tensors from tensors.
class Halftone_PureOp<string mnemonic, list<Trait> traits = []>
    : Halftone_Op<mnemonic, !listconcat([Pure, Halftone_ComputeOpInterface], traits)>;

#endif // HALFTONE_TYPES
