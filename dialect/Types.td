// Type constraints shared by the op families.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_TYPES
#define HALFTONE_TYPES

include "Attrs.td"
include "Interfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Halftone_Float : AnyTypeOf<[F16, BF16, F32, F64], "float (not float8)">;
def Halftone_Float8 : AnyTypeOf<[F8E4M3FN, F8E5M2], "float8">;
def Halftone_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64], "integer">;
def Halftone_Element : AnyTypeOf<[I1, Halftone_Int, Halftone_Float, Halftone_Float8], "element">;
def Halftone_Tensor : StaticShapeTensorOf<[Halftone_Element]>;
def Halftone_NumberTensor : StaticShapeTensorOf<[Halftone_Int, Halftone_Float]>;
def Halftone_ArithmeticTensor : StaticShapeTensorOf<[I1, Halftone_Int, Halftone_Float]>;
def Halftone_FloatTensor : StaticShapeTensorOf<[Halftone_Float]>;
def Halftone_IntTensor : StaticShapeTensorOf<[Halftone_Int]>;
def Halftone_IntOrBoolTensor : StaticShapeTensorOf<[I1, Halftone_Int]>;
def Halftone_BoolTensor : StaticShapeTensorOf<[I1]>;
def Halftone_Predicate : Type<0DTensorOf<[I1]>.predicate, "scalar i1 tensor", "::mlir::RankedTensorType">,
                         BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

class Halftone_PureOp<string mnemonic, list<Trait> traits = []>
    : Halftone_Op<mnemonic, !listconcat([Pure], traits)>;

#endif // HALFTONE_TYPES
