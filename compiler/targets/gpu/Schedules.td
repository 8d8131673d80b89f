// The schedules of kernels on GPUs of any kind: attributes of the dialect halftone_gpu.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_GPU_SCHEDULES
#define HALFTONE_GPU_SCHEDULES

include "compiler/kernels/Schedule.td"

def ScheduleDialect : Dialect {
  let name = "halftone_gpu";
  let cppNamespace = "::halftone::compiler::gpu";
  let summary = "The schedules of kernels on GPUs of any kind: attributes only";
  let useDefaultAttributePrinterParser = 1;
}

class Gpu_Schedule<string name, string attrMnemonic>
    : AttrDef<ScheduleDialect, name # "Schedule", [DeclareAttrInterfaceMethods<Halftone_ScheduleAttrInterface>]> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Gpu_MatmulSchedule : Gpu_Schedule<"Matmul", "matmul"> {
  let summary = "The schedule of a matmul kernel that uses multiply-adds on a GPU";
  let description = [{
    `tile` has the rows and columns of the output that a block computes, with which the launch counts its blocks.
    `divisors` has for each dim the largest power of two up to 16 that divides its extent. Both are constants in the
    code, so alignments are known at compile time; the code does not check them against the launch and the extents.
    Example: `#halftone_gpu.matmul<tile = [128, 128], divisors = [16, 16, 8]>`
  }];
  let parameters = (ins Halftone_SizesParameter<"rows and columns of a tile">:$tile,
                        Halftone_SizesParameter<"a divisor of each dim's extent">:$divisors);
}

def Gpu_RowSchedule : Gpu_Schedule<"Row", "row"> {
  let summary = "The schedule of a row or finish kernel: how the threads of a block share its rows";
  let description = [{
    A block has `teams` teams of `across` threads, both powers of two, and a team processes one row at a time. Each
    thread processes vectors of `vector` elements, a power of two up to 8 that divides the extent of the last inner dim
    of every phase. `steps` vectors per thread hold a whole row, at most 128 elements per thread. 0: the block is one
    team, and iterates over a row in a loop. The code does not check the extents.
    Example: `#halftone_gpu.row<teams = 8, across = 32, vector = 4, steps = 2>`
  }];
  let parameters = (ins "int64_t":$teams, "int64_t":$across, "int64_t":$vector, "int64_t":$steps);
}

#endif // HALFTONE_GPU_SCHEDULES
