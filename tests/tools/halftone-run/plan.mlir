// From a module to a saved plan, its code, and its run; with the compiler's stages on the way.
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run emit %s --stage linalg | FileCheck-22 %s --check-prefix=LINALG
// LINALG: func.func @kernel
// LINALG: linalg.generic
// RUN: halftone-run emit %s --stage plan | FileCheck-22 %s --check-prefix=PLAN
// PLAN: s0: feed 0 "x" 100xf32
// PLAN: s1: variable @w net/w 100xf32
// PLAN: {{[0-9a-f]+}}: loop, {{(16|32|64)}}-byte vectors
// RUN: halftone-run emit %s --target x86-64-v3 | FileCheck-22 %s --check-prefix=ASM
// RUN: halftone-run emit %s --target x86-64-v3 --stage target --format asm | FileCheck-22 %s --check-prefix=ASM
// ASM: ymm
// RUN: halftone-run emit %s --format llvm | FileCheck-22 %s --check-prefix=LLVM
// LLVM: define {{.*}}void @halftone_
// RUN: halftone-run emit %s --format object -o %t/kernels.o
// RUN: llvm-nm %t/kernels.o | FileCheck-22 %s --check-prefix=OBJECT
// OBJECT: T halftone_
// RUN: halftone-run emit %s --numerics strict --format object -o %t/kernels.a
// RUN: llvm-ar t %t/kernels.a | FileCheck-22 %s --check-prefix=ARCHIVE
// ARCHIVE-COUNT-2: halftone_{{[0-9a-f]+}}.o

// RUN: halftone-run emit %s --format plan -o %t/one.plan
// RUN: halftone-run emit %s --stage plan --format plan --no-cache -o %t/two.plan
// RUN: cmp %t/one.plan %t/two.plan
// RUN: halftone-run predict %s --input x=random > %t/module.txt
// RUN: halftone-run predict %t/one.plan --input x=random --threads 3 | diff %t/module.txt -
// RUN: halftone-run predict %s --input x=random --device interpreter --output @w=%t/w.npy --output %t/y.npy
// RUN: halftone-run predict %s --input x=random --numerics strict --output @w=%t/w2.npy --output %t/y2.npy
// RUN: cmp %t/w.npy %t/w2.npy
// RUN: cmp %t/y.npy %t/y2.npy
// RUN: halftone-run emit %t/one.plan --stage plan | FileCheck-22 %s --check-prefix=PLAN
// RUN: halftone-run emit %t/one.plan --format object -o %t/again.o
// RUN: cmp %t/kernels.o %t/again.o
// RUN: %exit 2 halftone-run emit %t/one.plan --stage kernel 2>&1 | FileCheck-22 %s --check-prefix=NOSTAGE
// NOSTAGE: one.plan is a saved plan; expected plan or target
// RUN: %exit 2 halftone-run emit %t/one.plan --format asm --target x86-64-v2 2>&1 | FileCheck-22 %s --check-prefix=OTHERCPU
// OTHERCPU: --target x86-64-v2: kernel {{.*}} was generated for
// RUN: %exit 2 halftone-run predict %t/one.plan --input x=random --device interpreter 2>&1 | FileCheck-22 %s --check-prefix=MEANING
// MEANING: one.plan is a saved plan, which has nothing to interpret

// Statistics on stderr, and every stage in a folder.
// RUN: halftone-run predict %s --input x=random -v --no-cache --dump-ir %t/ir 2>&1 | FileCheck-22 %s --check-prefix=TOLD
// TOLD: halftone-run: 1 kernels in {{.*}} s: 1 compiled, 0 from memory, 0 from disk, 0 from packs; 0 standalone casts
// RUN: ls %t/ir | FileCheck-22 %s --check-prefix=FOLDER
// FOLDER: 0-graph.mlir
// FOLDER-NEXT: 1-cast.mlir
// FOLDER-NEXT: 2-pure.mlir
// FOLDER-NEXT: 3-kernel.mlir
// FOLDER-NEXT: 4-linalg.mlir
// FOLDER-NEXT: 5-plan.txt
// FOLDER-NEXT: 6-target.s
// RUN: halftone-run predict %s --input x=random -q --cache-dir %t/cache
// RUN: halftone-run predict %s --input x=random -v --cache-dir %t/cache 2>&1 | FileCheck-22 %s --check-prefix=CACHE
// CACHE: 0 compiled, 0 from memory, 1 from disk
// If the cache cannot be used, one line gives the reason.
// RUN: mkdir %t/open && chmod 777 %t/open
// RUN: halftone-run predict %s --input x=random --cache-dir %t/open -v 2>&1 >/dev/null | FileCheck-22 %s --check-prefix=OPEN
// RUN: halftone-run compare %s --cache-dir %t/open 2>&1 >/dev/null | FileCheck-22 %s --check-prefix=OPEN
// OPEN: halftone-run: compiled kernels are not cached on disk: {{.*}}/open can be written by other users
// OPEN-NOT: cached on disk
// RUN: echo > %t/file
// RUN: halftone-run predict %s --input x=random --cache-dir %t/file 2>&1 >/dev/null | FileCheck-22 %s --check-prefix=NOFOLDER
// NOFOLDER: not cached on disk: {{.*}}/file is not a folder
// RUN: halftone-run predict %s --input x=random --cache-dir %t/file -q 2>&1 | count 0
// RUN: halftone-run predict %s --input x=random --no-cache 2>&1 >/dev/null | count 0

// Locations, if they are asked for; dumps with locations are MLIR too.
// RUN: halftone-run predict %s --input x=random -q --no-cache --numerics strict --locations --dump-ir %t/located
// RUN: FileCheck-22 %s --check-prefix=LOCATED --input-file=%t/located/3-kernel.mlir
// LOCATED: plan.mlir":{{[0-9]+}}:{{[0-9]+}})
// RUN: halftone-opt %t/located/3-kernel.mlir --start-from=kernel -o /dev/null
// RUN: halftone-opt %t/located/4-linalg.mlir -split-input-file > %t/4.mlir
// RUN: halftone-run emit %s --stage linalg --numerics strict | halftone-opt -split-input-file | diff %t/4.mlir -
// RUN: halftone-run emit %s --stage cast --locations | FileCheck-22 %s --check-prefix=LOCATED

halftone.variable @w : tensor<100xf32> {path = "net/w"}
func.func @main(%x: tensor<100xf32> {halftone.name = "x"}) -> (tensor<100xf32> {halftone.name = "y"}) {
  %w = halftone.read @w : tensor<100xf32>
  %y = halftone.mul %x, %w : tensor<100xf32>
  %w1 = halftone.sub %w, %y : tensor<100xf32>
  halftone.assign @w, %w1 : tensor<100xf32>
  return %y : tensor<100xf32>
}
