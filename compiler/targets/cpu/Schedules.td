// The schedules of kernels on CPUs: attributes of the dialect halftone_cpu.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_CPU_SCHEDULES
#define HALFTONE_CPU_SCHEDULES

include "compiler/kernels/Schedule.td"

def ScheduleDialect : Dialect {
  let name = "halftone_cpu";
  let cppNamespace = "::halftone::compiler::cpu";
  let summary = "The schedules of kernels on CPUs: attributes only";
  let useDefaultAttributePrinterParser = 1;
}

class Cpu_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::halftone::compiler::cpu";
}

def Cpu_Product : Cpu_Enum<"Product", "the product of factors", [
  I32EnumCase<"multiply_add", 0>, // elements widened to the accumulator's type, one index of K at a time
  I32EnumCase<"vdpbf16ps", 1>,    // two indices of K at a time, AVX512_BF16
  I32EnumCase<"vpdpbusd", 2>,     // four indices of K at a time, AVX512_VNNI
  I32EnumCase<"tdpbf16ps", 3>,    // AMX tiles, two indices of K per element
  I32EnumCase<"tdpbssd", 4>       // AMX tiles, four indices of K per element
]>;

def Cpu_WindowRead : Cpu_Enum<"WindowRead", "the way to read a window", [
  I32EnumCase<"rows", 0>,      // packed, the taps of one position at a time
  I32EnumCase<"positions", 1>, // packed, one tap of adjacent positions at a time
  I32EnumCase<"image", 2>      // read directly from the image; taps outside of it are skipped
]>;

def Cpu_SumShape : Cpu_Enum<"SumShape", "the shape of the sums in registers", [
  I32EnumCase<"wide", 0>, // six rows and four vectors of columns, with 32 registers
  I32EnumCase<"tall", 1>  // twelve rows and two vectors of columns
]>;

def Cpu_DepthFact : Cpu_Enum<"DepthFact", "the known property of K", [
  I32EnumCase<"any", 0>,
  I32EnumCase<"even", 1>, // K is a multiple of the two indices of K that vdpbf16ps takes
  I32EnumCase<"runs", 2>  // K is several dims; a vector along K lies in one run of the last dim, and pairs are adjacent
]>;

class Cpu_Schedule<string name, string attrMnemonic, list<string> answers = []>
    : AttrDef<ScheduleDialect, name # "Schedule",
              [DeclareAttrInterfaceMethods<Halftone_ScheduleAttrInterface, answers>]> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Cpu_MatmulSchedule : Cpu_Schedule<"Matmul", "matmul", ["takesStoredFactors"]> {
  let summary = "The schedule of a matmul kernel on a CPU";
  let description = [{
    `few_rows`: M is small, so the right operand is read in place if its layout allows it. `window` applies if the left
    operand is a window. `scales`: parts of the right operand whose elements are all tiny are multiplied after scaling
    by a power of two, because CPUs are slow on subnormal numbers.
    Example: `#halftone_cpu.matmul<product = vdpbf16ps, window = image, depth = even>`
  }];
  let parameters = (ins DefaultValuedParameter<"Product", "Product::multiply_add">:$product,
                        DefaultValuedParameter<"bool", "false">:$few_rows,
                        DefaultValuedParameter<"WindowRead", "WindowRead::rows">:$window,
                        DefaultValuedParameter<"SumShape", "SumShape::wide">:$sums,
                        DefaultValuedParameter<"DepthFact", "DepthFact::any">:$depth,
                        DefaultValuedParameter<"bool", "false">:$scales);
}

def Cpu_AttentionSchedule : Cpu_Schedule<"Attention", "attention"> {
  let summary = "The schedule of an attention kernel, or of its gradient, on a CPU";
  let description = [{
    `few_queries`: a block has one query, and reads keys and values in place; it uses multiply-adds.
    Example: `#halftone_cpu.attention<product = tdpbf16ps>`
  }];
  let parameters = (ins DefaultValuedParameter<"Product", "Product::multiply_add">:$product,
                        DefaultValuedParameter<"bool", "false">:$few_queries);
}

def Cpu_RecurrenceSchedule : Cpu_Schedule<"Recurrence", "recurrence"> {
  let summary = "The schedule of a recurrence kernel on a CPU";
  let description = [{
    Example: `#halftone_cpu.recurrence<product = vdpbf16ps>`
  }];
  let parameters = (ins DefaultValuedParameter<"Product", "Product::multiply_add">:$product);
}

def Cpu_GroupedSchedule : Cpu_Schedule<"Grouped", "grouped"> {
  let summary = "The schedule of a reduction loop on a CPU whose lanes run along groups";
  let description = [{
    A grouped convolution with few channels per group: lanes run along the last two dims, which are the groups and the
    `filters` of each. `channel_dim` is the dim of the `channels` of a group, or -1 if the kernel has no such dim. All
    three are constants in the code. `filters` and `channels` are required: `verify` rejects their default, 0.
    Example: `#halftone_cpu.grouped<filters = 2, channels = 4, channel_dim = 3>`
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$filters,
                        DefaultValuedParameter<"int64_t", "0">:$channels,
                        DefaultValuedParameter<"int64_t", "-1">:$channel_dim);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // HALFTONE_CPU_SCHEDULES
