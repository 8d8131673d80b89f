// The schedules of kernels on GPUs of any kind: attributes of the dialect halftone_gpu.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_GPU_SCHEDULES
#define HALFTONE_GPU_SCHEDULES

include "compiler/kernels/Schedule.td"

def ScheduleDialect : Dialect {
  let name = "halftone_gpu";
  let cppNamespace = "::halftone::compiler::gpu";
  let summary = "How kernels compute on GPUs: attributes alone";
  let useDefaultAttributePrinterParser = 1;
}

class Gpu_Schedule<string name, string attrMnemonic>
    : AttrDef<ScheduleDialect, name # "Schedule", [DeclareAttrInterfaceMethods<Halftone_ScheduleAttrInterface>]> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Gpu_MatmulSchedule : Gpu_Schedule<"Matmul", "matmul"> {
  let summary = "A matmul kernel of multiply-adds on a GPU";
  let description = [{
    `tile` has the rows and columns of the output that a block computes, as the launch counts its blocks. `divisors` has for each
    dim the largest power of two, up to 16, that divides its extent. Both are constants of the code, which so knows which runs of
    elements are aligned in memory; it does not check that the launch and the extents agree.
    Example: `#halftone_gpu.matmul<tile = [128, 128], divisors = [16, 16, 8]>`
  }];
  let parameters = (ins Halftone_SizesParameter<"rows and columns of a tile">:$tile,
                        Halftone_SizesParameter<"a divisor of each dim's extent">:$divisors);
}

def Gpu_RowSchedule : Gpu_Schedule<"Row", "row"> {
  let summary = "How the threads of a block share the rows of a row or finish kernel";
  let description = [{
    A block has `teams` teams of `across` threads, both powers of two, and a team takes a row at a time. Each thread takes vectors
    of `vector` elements, a power of two up to 8 that divides the extent of the last inner dim of every phase. `steps` vectors of
    each thread hold a whole row, 128 elements of it at most. 0: the block is one team, and goes through a row in a loop. The code
    does not check that the extents agree.
    Example: `#halftone_gpu.row<teams = 8, across = 32, vector = 4, steps = 2>`
  }];
  let parameters = (ins "int64_t":$teams, "int64_t":$across, "int64_t":$vector, "int64_t":$steps);
}

#endif // HALFTONE_GPU_SCHEDULES
