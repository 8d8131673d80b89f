// Every form of an input and an output.
// RUN: halftone-run predict %s --input "x=2x3xf32=1 2 3 4 5 6" --input "n=i32=-2" | FileCheck-22 %s --check-prefix=VALUES
// VALUES: y: 2x3xf32, 6 of 6 finite
// VALUES-NEXT: 2 4 6 8 10 12
// VALUES-NEXT: m: i32, 1 of 1 finite
// VALUES-NEXT: {{^}}  -4

// Specs without a name are, in order, the feeds that no spec names; brackets and commas separate as blanks do; one
// scalar fills.
// RUN: halftone-run predict %s --input "2x3xf32=[1, 2, 3], [nan, inf, 0x1p4]" --input "i32=7" | FileCheck-22 %s --check-prefix=ORDER
// ORDER: y: 2x3xf32, 4 of 6 finite
// ORDER-NEXT: 2 4 6 nan inf 32
// ORDER: {{^}}  14
// RUN: halftone-run predict %s --input "i32=7" --input "x=2x3xf32=0.5" | FileCheck-22 %s --check-prefix=FILL
// RUN: halftone-run predict %s --input "n=i32=7" --input "2x3xf32=0.5" | FileCheck-22 %s --check-prefix=FILL
// FILL: 1 1 1 1 1 1

// Writes .npy and reads it again; raw bytes.
// RUN: rm -rf %t && mkdir %t
// RUN: halftone-run predict %s --input "x=2x3xf32=1 2 3 4 5 6" --input "n=i32=1" --output m=%t/m.npy --output %t/y.npy | count 0
// RUN: halftone-run predict %s --input x=@%t/y.npy --input n=@%t/m.npy | FileCheck-22 %s --check-prefix=NPY
// NPY: 4 8 12 16 20 24
// NPY: {{^}}  4
// RUN: %python -c "import struct,sys; open(sys.argv[1],'wb').write(struct.pack('<6f',*range(6)))" %t/raw.bin
// RUN: halftone-run predict %s --input x=2x3xf32=@%t/raw.bin --input n=i32=0 | FileCheck-22 %s --check-prefix=RAW
// RAW: 0 2 4 6 8 10

// Random inputs depend on the seed alone.
// RUN: halftone-run predict %s --input x=2x3xf32=random --input n=random --seed 3 > %t/one
// RUN: halftone-run predict %s --input x=random --input n=i32=random --seed 3 > %t/two
// RUN: halftone-run predict %s --input x=random --input n=random --seed 4 > %t/three
// RUN: diff %t/one %t/two
// RUN: not diff %t/one %t/three

// As JSON, and with -q.
// RUN: halftone-run predict %s --input "x=2x3xf32=1 2 3 4 nan 6" --input n=i32=1 --json | FileCheck-22 %s --check-prefix=JSON
// JSON: {"tool":"halftone-run","command":"predict","version":"{{[0-9.]+}}","schema":1,"status":"ok","outputs":[{"name":"y","type":"2x3xf32","elements":6,"finite":5,"first":[2,4,6,8,"nan",12]},{"name":"m","type":"i32","elements":1,"finite":1,"first":[2]}]}
// RUN: halftone-run predict %s --input x=random --input n=random -q | count 0

func.func @main(%x: tensor<2x3xf32> {halftone.name = "x"}, %n: tensor<i32> {halftone.name = "n"})
    -> (tensor<2x3xf32> {halftone.name = "y"}, tensor<i32> {halftone.name = "m"}) {
  %y = halftone.add %x, %x : tensor<2x3xf32>
  %m = halftone.add %n, %n : tensor<i32>
  return %y, %m : tensor<2x3xf32>, tensor<i32>
}
