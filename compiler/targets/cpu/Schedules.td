// The schedules of kernels on CPUs: attributes of the dialect halftone_cpu.
// SPDX-License-Identifier: Apache-2.0
#ifndef HALFTONE_CPU_SCHEDULES
#define HALFTONE_CPU_SCHEDULES

include "compiler/kernels/Schedule.td"

def ScheduleDialect : Dialect {
  let name = "halftone_cpu";
  let cppNamespace = "::halftone::compiler::cpu";
  let summary = "How kernels compute on CPUs: attributes alone";
  let useDefaultAttributePrinterParser = 1;
}

class Cpu_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::halftone::compiler::cpu";
}

def Cpu_Product : Cpu_Enum<"Product", "the product of factors", [
  I32EnumCase<"multiply_add", 0>, // numbers widened to the accumulator's type, one index of K at a time
  I32EnumCase<"vdpbf16ps", 1>,    // two indices of K at a time, AVX512_BF16
  I32EnumCase<"vpdpbusd", 2>,     // four indices of K at a time, AVX512_VNNI
  I32EnumCase<"tdpbf16ps", 3>,    // tiles, two indices of K in an element, AMX
  I32EnumCase<"tdpbssd", 4>       // tiles, four indices of K in an element, AMX
]>;

def Cpu_WindowRead : Cpu_Enum<"WindowRead", "the way to read a window", [
  I32EnumCase<"rows", 0>,      // packed, the taps of a position at a time
  I32EnumCase<"positions", 1>, // packed, a tap of neighbouring positions at a time
  I32EnumCase<"image", 2>      // where the image lies; taps outside of it are left out
]>;

def Cpu_SumShape : Cpu_Enum<"SumShape", "the shape of the sums in registers", [
  I32EnumCase<"wide", 0>, // six rows and four vectors of columns, where there are 32 registers
  I32EnumCase<"tall", 1>  // twelve rows and two vectors of columns
]>;

def Cpu_DepthFact : Cpu_Enum<"DepthFact", "what is known of K", [
  I32EnumCase<"any", 0>,
  I32EnumCase<"even", 1>, // K is a multiple of the two indices that vdpbf16ps takes
  I32EnumCase<"runs", 2>  // K is several dims, and a vector along it is one run of the last; pairs are neighbours too
]>;

class Cpu_Schedule<string name, string attrMnemonic, list<string> answers = []>
    : AttrDef<ScheduleDialect, name # "Schedule",
              [DeclareAttrInterfaceMethods<Halftone_ScheduleAttrInterface, answers>]> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Cpu_MatmulSchedule : Cpu_Schedule<"Matmul", "matmul", ["takesStoredFactors"]> {
  let summary = "How a matmul kernel computes on a CPU";
  let description = [{
    `few_rows`: M is small, so the right operand is read in place where its layout allows that. `window` is of a matmul whose left
    operand is a window. `scales`: parts of the right operand whose elements are all tiny are multiplied scaled by a power of two,
    as CPUs take long for subnormal numbers.
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
  let summary = "How an attention kernel, or that of its gradient, computes on a CPU";
  let description = [{
    `few_queries`: a block has one query, and reads keys and values in place, by multiply-adds.
    Example: `#halftone_cpu.attention<product = tdpbf16ps>`
  }];
  let parameters = (ins DefaultValuedParameter<"Product", "Product::multiply_add">:$product,
                        DefaultValuedParameter<"bool", "false">:$few_queries);
}

def Cpu_RecurrenceSchedule : Cpu_Schedule<"Recurrence", "recurrence"> {
  let summary = "How a recurrence kernel computes on a CPU";
  let description = [{
    Example: `#halftone_cpu.recurrence<product = vdpbf16ps>`
  }];
  let parameters = (ins DefaultValuedParameter<"Product", "Product::multiply_add">:$product);
}

def Cpu_GroupedSchedule : Cpu_Schedule<"Grouped", "grouped"> {
  let summary = "A reduction loop of a CPU whose lanes run along groups";
  let description = [{
    A convolution in groups of few channels: lanes run along the last two dims, which are the groups and the `filters` of each.
    `channel_dim` is the dim of the `channels` of a group, -1 if the kernel has no such dim. All three are constants of the code.
    `filters` and `channels` are required: `verify` refuses their default, 0.
    Example: `#halftone_cpu.grouped<filters = 2, channels = 4, channel_dim = 3>`
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$filters,
                        DefaultValuedParameter<"int64_t", "0">:$channels,
                        DefaultValuedParameter<"int64_t", "-1">:$channel_dim);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // HALFTONE_CPU_SCHEDULES
