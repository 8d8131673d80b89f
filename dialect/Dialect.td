// The dialect itself.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_DIALECT
#define HALFTONE_DIALECT

include "mlir/IR/OpBase.td"

def Halftone_Dialect : Dialect {
  let name = "halftone";
  let cppNamespace = "::halftone::dialect";
  let summary = "Layer graphs with Keras dtype policies, from the graph a user traced to kernels and launches";
  let description = [{
    Tensors are static and ranked; a scalar has rank 0. Signed integers are signless (`i8`), unsigned ones are `ui8`,
    booleans `i1`. float8 is a storage type: only `cast`, `contract` and shape ops take it.
    Attributes named `halftone.*` on arguments, results, functions and modules are those of Attributes.cpp; others are errors.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Halftone_Op<string mnemonic, list<Trait> traits = []> : Op<Halftone_Dialect, mnemonic, traits>;

#endif // HALFTONE_DIALECT
