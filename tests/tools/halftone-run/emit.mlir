// Stages of a module as text.
// RUN: halftone-run emit %s --stage graph | FileCheck-22 %s --check-prefix=GRAPH
// GRAPH: halftone.layer "net/dense"
// RUN: halftone-run emit %s --stage cast | FileCheck-22 %s --check-prefix=CAST
// CAST-NOT: halftone.layer "
// CAST: halftone.cast %{{.*}} {origin = "layer input"}
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run emit %s --stage pure --format mlir -o %t/pure.mlir | count 0
// RUN: FileCheck-22 %s --check-prefix=PURE --input-file=%t/pure.mlir
// PURE: halftone.variable = @w
// RUN: halftone-run emit %s --stage kernel --numerics strict | FileCheck-22 %s --check-prefix=KERNEL
// KERNEL-COUNT-3: halftone.kernel
// KERNEL-NOT: halftone.kernel
// KERNEL: func.func @main
// KERNEL: halftone.launch

// A stage's text is an input and gives the same result.
// RUN: halftone-run emit %t/pure.mlir --stage kernel -o %t/kernel.mlir
// RUN: halftone-run predict %s --input "x=4xf32=1 2 3 4" > %t/graph
// RUN: halftone-run predict %t/pure.mlir --input "x=4xf32=1 2 3 4" | diff %t/graph -
// RUN: halftone-run predict %t/kernel.mlir --input "x=4xf32=1 2 3 4" | diff %t/graph -

// Mistakes.
// RUN: %exit 2 halftone-run emit %s --stage soup 2>&1 | FileCheck-22 %s --check-prefix=SOUP
// SOUP: --stage 'soup': expected graph, cast, pure, kernel, linalg, plan or target
// RUN: %exit 2 halftone-run emit %s --format ptx 2>&1 | FileCheck-22 %s --check-prefix=PTX
// PTX: --format ptx: kernel {{.*}} was generated for {{.*}}; expected object
// RUN: %exit 2 halftone-run emit %s --format sass 2>&1 | FileCheck-22 %s --check-prefix=SASS
// SASS: --format 'sass': expected mlir, plan, llvm, asm, ptx or object
// RUN: %exit 2 halftone-run emit %s --stage cast --format asm 2>&1 | FileCheck-22 %s --check-prefix=FORMAT
// FORMAT: --format asm: stage cast is written as mlir
// RUN: %exit 2 halftone-run emit %t/kernel.mlir --stage cast 2>&1 | FileCheck-22 %s --check-prefix=BACK
// BACK: --stage cast: {{.*}}kernel.mlir is already in stage kernel
// RUN: %exit 3 halftone-run emit %s --stage graph -o %t/no/such 2>&1 | FileCheck-22 %s --check-prefix=WRITE
// WRITE: IOError: cannot write {{.*}}no/such: No such file or directory

halftone.variable @w : tensor<4xf32> {path = "net/dense/w"}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf16> {halftone.name = "y"}) {
  %y = halftone.layer "net/dense" policy "mixed_float16" (%x) {layer_class = "Dense"} : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf16>):
    %w = halftone.read @w : tensor<4xf16>
    %0 = halftone.mul %a, %w : tensor<4xf16>
    halftone.yield %0 : tensor<4xf16>
  }
  return %y : tensor<4xf16>
}
