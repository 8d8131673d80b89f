// The schedules of kernels on NVIDIA GPUs: attributes of the dialect halftone_nvptx.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_NVPTX_SCHEDULES
#define HALFTONE_NVPTX_SCHEDULES

include "compiler/kernels/Schedule.td"

def ScheduleDialect : Dialect {
  let name = "halftone_nvptx";
  let cppNamespace = "::halftone::compiler::nvptx";
  let summary = "The schedules of kernels with instructions of NVIDIA GPUs: attributes only";
  let useDefaultAttributePrinterParser = 1;
}

def Nvptx_Product : I32Enum<"Product", "the instruction of a warp's products", [
  I32EnumCase<"mma_m16n8k16_f16", 0>,
  I32EnumCase<"mma_m16n8k16_bf16", 1>,
  I32EnumCase<"mma_m16n8k32_s8", 2>
]> {
  let cppNamespace = "::halftone::compiler::nvptx";
}

def Nvptx_MmaSchedule : AttrDef<ScheduleDialect, "MmaSchedule",
                                [DeclareAttrInterfaceMethods<Halftone_ScheduleAttrInterface, ["takesStoredFactors"]>]> {
  let mnemonic = "mma";
  let summary = "The schedule of a matmul kernel that uses mma.sync";
  let description = [{
    Factors have the narrow type that `product` multiplies, even if a prologue computes them. `tile` and `divisors` are
    those of `#halftone_gpu.matmul`.
    Example: `#halftone_nvptx.mma<product = mma_m16n8k16_bf16, tile = [128, 128], divisors = [16, 16, 8]>`
  }];
  let parameters = (ins "Product":$product, Halftone_SizesParameter<"rows and columns of a tile">:$tile,
                        Halftone_SizesParameter<"a divisor of each dim's extent">:$divisors);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // HALFTONE_NVPTX_SCHEDULES
