// More standalone casts than allowed: the answer is no. In strict numerics every cast stands alone.
// RUN: %exit 1 halftone-run predict %s --input x=random --max-standalone-casts 0 2>&1 | FileCheck-22 %s
// CHECK: halftone-run: 1 casts are standalone, but at most 0 are allowed:
// CHECK-NEXT: (no layer): float32 > float16
// RUN: %exit 1 halftone-run compare %s --numerics fast --max-standalone-casts 0 --json 2>/dev/null | FileCheck-22 %s --check-prefix=JSON
// JSON: "command":"compare",{{.*}}"status":"no","message":"1 casts are standalone
// RUN: halftone-run predict %s --input x=random --max-standalone-casts 1 -q
// RUN: %exit 1 halftone-run compare %s --max-standalone-casts 0 -q 2>&1 | FileCheck-22 %s
// RUN: halftone-run compare %s --max-standalone-casts 1 -q
// RUN: %exit 1 halftone-opt %s --numerics=strict --max-standalone-casts=0 -o /dev/null
func.func @main(%x: tensor<8xf32> {halftone.name = "x"}) -> (tensor<8xf16> {halftone.name = "y"}) {
  %y = halftone.cast %x {origin = "user"} : tensor<8xf32> to tensor<8xf16>
  return %y : tensor<8xf16>
}
