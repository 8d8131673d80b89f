// The PTX of loops: accesses of 16 bytes, products fused with sums unless strict mode forbids it, no calls, no local memory.
// RUN: halftone-run emit %s --target sm_80 --format ptx > %t
// RUN: FileCheck-22 %s < %t
// RUN: not grep -E "\.local|\.func|call" %t
// CHECK: // halftone_{{[0-9a-f]+}} (loop): 256 threads, vectors of 8
// CHECK: .version 8.0
// CHECK: .target sm_80
// CHECK: .visible .entry halftone_
// CHECK: .reqntid 256
// CHECK-DAG: ld.global.v4.b32
// CHECK-DAG: fma.rn.f32
// CHECK-DAG: cvt.rn.bf16
// CHECK: st.global.v4.b32
// RUN: halftone-run emit %s --target sm_80 --format ptx --numerics strict | FileCheck-22 %s --check-prefix=STRICT
// STRICT-NOT: fma.rn.f32
// STRICT: mul.rn.f32
// STRICT-NOT: fma.rn.f32
// RUN: halftone-opt %s --target=sm_80 --stop-after=target | FileCheck-22 %s --check-prefix=OPT
// OPT: .visible .entry halftone_
// RUN: halftone-run emit %s --target sm_80 --stage plan | FileCheck-22 %s --check-prefix=PLAN
// PLAN: loop, 256 threads, vectors of 8
// RUN: %exit 2 halftone-run emit %s --format ptx 2>&1 | FileCheck-22 %s --check-prefix=CPU
// CPU: --format ptx: kernel halftone_{{[0-9a-f]+}} was generated for {{.*}}; expected object
// RUN: %exit 2 halftone-run emit %s --target sm_80 --format object 2>&1 | FileCheck-22 %s --check-prefix=GPU
// GPU: --format object: kernel halftone_{{[0-9a-f]+}} was generated for nvptx|sm_80|ptx80; expected ptx
module {
  func.func @main(%x: tensor<100x48xbf16> {halftone.name = "x"}, %y: tensor<48xbf16> {halftone.name = "y"})
      -> (tensor<100x48xbf16> {halftone.name = "z"}) {
    %b = halftone.broadcast %y {axes = array<i64: 1>} : tensor<48xbf16> to tensor<100x48xbf16>
    %0 = halftone.mul %x, %b : tensor<100x48xbf16>
    %1 = halftone.add %0, %x : tensor<100x48xbf16>
    return %1 : tensor<100x48xbf16>
  }
}
