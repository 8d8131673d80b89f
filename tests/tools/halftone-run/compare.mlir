// Compares compiled code with the interpreter, as a whole and launch by launch.
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run compare %s --no-cache --by-layer | FileCheck-22 %s --check-prefix=STRICT --match-full-lines
// STRICT:      output  shape    max |d|  max ulp  worst layer
// STRICT-NEXT: y       (7, 40)  0.0e+00  0        -
// STRICT-NEXT: n       (7,)     0.0e+00  0        -
// STRICT-NEXT: @w      (40,)    0.0e+00  0        -
// STRICT-NEXT: agrees bit for bit

// Fast: the product stays in f32 to the end of the layer, which the worst layer shows.
// RUN: halftone-run compare %s --no-cache --numerics fast --by-layer --steps 3 | FileCheck-22 %s --check-prefix=FAST
// FAST: y {{.*}} net/dense ({{.*}}compare.mlir:{{[0-9]+}}): {{.*}}mul
// FAST: n {{.*}}  0.0e+00  0        -
// FAST: agrees within fast numerics
// RUN: halftone-run compare %s --no-cache --numerics fast --ulp 4 | FileCheck-22 %s --check-prefix=WITHIN
// WITHIN: agrees within --ulp 4
// RUN: halftone-run compare %s --no-cache --numerics fast --atol 0.01 --rtol 0.01 | FileCheck-22 %s --check-prefix=CLOSE
// CLOSE: agrees within --rtol 0.01 --atol 0.01
// RUN: %exit 1 halftone-run compare %s --no-cache --numerics fast --by-layer --ulp 0 | FileCheck-22 %s --check-prefix=BEYOND
// BEYOND: y: {{[0-9]+}} of 280 elements differ, first [{{[0-9]+, [0-9]+}}]: {{.*}}, expected
// BEYOND-NOT: launch
// BEYOND: differs beyond --ulp 0

// The result as JSON.
// RUN: halftone-run compare %s --no-cache --json --by-layer | FileCheck-22 %s --check-prefix=JSON
// JSON: {"tool":"halftone-run","command":"compare",{{.*}}"status":"ok","outputs":[{"name":"y","type":"7x40xf16","elements":280,"unequal":0,"max_abs":0.0,"max_ulp":0},{{.*}}"launches":[{"step":0,"index":0,"kernel":"loop_{{[0-9a-f]+}}","site":"net/dense ({{.*}}): cast",
// RUN: %exit 1 halftone-run compare %s --no-cache --numerics fast --ulp 0 --json | FileCheck-22 %s --check-prefix=NO
// NO: "status":"no","outputs":[{"name":"y",{{.*}}"unequal":{{[1-9]}}{{.*}}"first":"[

// From a later stage, and code for other CPUs.
// RUN: halftone-run emit %s --stage kernel -o %t/kernel.mlir
// RUN: halftone-run compare %t/kernel.mlir --no-cache --by-layer --numerics fast | FileCheck-22 %s --check-prefix=FAST
// RUN: halftone-run compare %s --no-cache --by-layer --target x86-64-v2 -q | count 0

// Against a file, and a saved plan against that file.
// RUN: halftone-run predict %s --seed 5 --input x=random --output y=%t/y.npy --threads 1
// RUN: halftone-run emit %s --stage target --format plan -o %t/saved.plan
// RUN: halftone-run compare %t/saved.plan --seed 5 --against %t/y.npy --threads 2 | FileCheck-22 %s --check-prefix=FILE
// FILE: y  {{.*}}  0
// FILE: agrees bit for bit
// RUN: %exit 1 halftone-run compare %t/saved.plan --seed 6 --against y=%t/y.npy | FileCheck-22 %s --check-prefix=OTHER
// OTHER: differs beyond bit for bit

// Mistakes.
// RUN: %exit 2 halftone-run compare %t/saved.plan 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// PLAN: saved.plan is a saved plan, which has nothing to interpret; expected a module, or --against FILE.npy
// RUN: %exit 2 halftone-run compare %s --against cuda:1 2>&1 | FileCheck-22 %s --check-prefix=AGAINST
// AGAINST: --against 'cuda:1': expected interpreter or [NAME=]FILE.npy
// RUN: %exit 2 halftone-run compare %s --against z=%t/y.npy 2>&1 | FileCheck-22 %s --check-prefix=FETCH
// FETCH: has no such fetch
// RUN: %exit 2 halftone-run compare %s --against y=%t/y.npy --by-layer 2>&1 | FileCheck-22 %s --check-prefix=BYLAYER
// BYLAYER: --by-layer: compare with a file does not read this option
// RUN: %exit 3 halftone-run compare %s --against n=%t/y.npy 2>&1 | FileCheck-22 %s --check-prefix=TYPE
// TYPE: ValueError: {{.*}}y.npy: expected 7xi32 as fetch 'n' is, got 7x40xf16
// RUN: %exit 3 halftone-run compare %s --against %t/absent.npy 2>&1 | FileCheck-22 %s --check-prefix=ABSENT
// ABSENT: IOError: {{.*}}absent.npy
// RUN: %exit 2 halftone-run compare %s --ulp -1 2>&1 | FileCheck-22 %s --check-prefix=NEGATIVE
// NEGATIVE: --ulp
// RUN: %exit 2 halftone-run compare %s --steps 0 2>&1 | FileCheck-22 %s --check-prefix=STEPS
// STEPS: --steps

halftone.variable @w : tensor<40xf32> {path = "net/dense/w"}
func.func @main(%x: tensor<7x40xf32> {halftone.name = "x"})
    -> (tensor<7x40xf16> {halftone.name = "y"}, tensor<7xi32> {halftone.name = "n"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {layer_class = "Dense"} : (tensor<7x40xf32>) -> tensor<7x40xf16> {
  ^bb0(%a: tensor<7x40xf16>):
    %w = halftone.read @w : tensor<40xf16>
    %b = halftone.broadcast %w {axes = array<i64: 1>} : tensor<40xf16> to tensor<7x40xf16>
    %0 = halftone.mul %a, %b : tensor<7x40xf16>
    %1 = halftone.add %0, %a : tensor<7x40xf16>
    halftone.yield %1 : tensor<7x40xf16>
  }
  %n = halftone.arg_reduce max %x {axis = 1 : i64} : tensor<7x40xf32> -> tensor<7xi32>
  %w = halftone.read @w : tensor<40xf32>
  %w1 = halftone.add %w, %w : tensor<40xf32>
  halftone.assign @w, %w1 : tensor<40xf32>
  return %y, %n : tensor<7x40xf16>, tensor<7xi32>
}
