// Each mistake: its exit code and one clear message.
// RUN: rm -rf %t && mkdir %t

// 2: bad usage.
// RUN: %exit 2 halftone-run 2>&1 | FileCheck-22 %s --check-prefix=NOTHING
// NOTHING: halftone-run: A subcommand is required
// RUN: %exit 2 halftone-run tune %s 2>&1 | FileCheck-22 %s --check-prefix=TUNE
// TUNE: halftone-run: 'tune' is not a command; expected predict
// RUN: %exit 2 halftone-run predict 2>&1 | FileCheck-22 %s --check-prefix=NOMODEL
// NOMODEL: halftone-run: MODEL is required
// RUN: %exit 2 halftone-run predict %s --frobnicate 2>&1 | FileCheck-22 %s --check-prefix=FLAG
// FLAG: halftone-run: {{.*}}--frobnicate
// RUN: %exit 2 halftone-run predict %s --numerics exact 2>&1 | FileCheck-22 %s --check-prefix=NUMERICS
// NUMERICS: --numerics: exact not in {fast,strict}
// RUN: %exit 2 halftone-run predict %s --threads 0 2>&1 | FileCheck-22 %s --check-prefix=THREADS
// THREADS: --threads
// RUN: %exit 2 halftone-run predict %s --target pdp11 --input x=random 2>&1 | FileCheck-22 %s --check-prefix=TARGET
// TARGET: halftone-run: --target: {{.*}}pdp11
// RUN: %exit 2 halftone-run predict %s --device tpu --input x=random 2>&1 | FileCheck-22 %s --check-prefix=DEVICE
// RUN: %exit 2 halftone-run emit %s --device tpu 2>&1 | FileCheck-22 %s --check-prefix=DEVICE
// DEVICE: halftone-run: --device 'tpu': expected cpu, cuda or cuda:<index>
// RUN: %exit 2 halftone-run predict %s 2>&1 | FileCheck-22 %s --check-prefix=MISSING
// MISSING: halftone-run: no --input for x (2xf32), y (i8)
// RUN: %exit 2 halftone-run predict %s --input z=2xf32=1 2>&1 | FileCheck-22 %s --check-prefix=NAME
// NAME: halftone-run: --input 'z=2xf32=1': {{.*}} has no 'z'; expected one of x, y, @w
// RUN: %exit 2 halftone-run predict %s --input x=random --input x=random 2>&1 | FileCheck-22 %s --check-prefix=TWICE
// TWICE: halftone-run: --input 'x=random': 'x' already has a value
// RUN: %exit 2 halftone-run predict %s --input random --input random --input random 2>&1 | FileCheck-22 %s --check-prefix=MANY
// MANY: halftone-run: --input 'random': all 2 feeds of {{.*}} have values
// RUN: %exit 2 halftone-run predict %s --input "1 2 3" 2>&1 | FileCheck-22 %s --check-prefix=SPEC
// SPEC: input '1 2 3': neither a type nor a name is given; expected [NAME=]SPEC, SPEC being TYPE=VALUES, TYPE=@FILE, @FILE.npy or TYPE=random
// RUN: %exit 2 halftone-run predict %s --input x=2xfloat=1 2>&1 | FileCheck-22 %s --check-prefix=TYPE
// TYPE: input 'x=2xfloat=1': '2xfloat' is not a type
// RUN: %exit 2 halftone-run predict %s --input x=@%t/x.bin 2>&1 | FileCheck-22 %s --check-prefix=RAWTYPE
// RAWTYPE: a file without a type must be .npy
// RUN: %exit 2 halftone-run predict %s --input "x=2xf32=1 two" 2>&1 | FileCheck-22 %s --check-prefix=NUMBER
// NUMBER: halftone-run: input 'x': 'two' is not a valid float32
// RUN: %exit 2 halftone-run predict %s --input x=random --input y=i8=128 2>&1 | FileCheck-22 %s --check-prefix=RANGE
// RANGE: halftone-run: input 'y': '128' is not a valid int8
// RUN: %exit 2 halftone-run predict %s --input x=random --input y=random --output q=%t/q.npy 2>&1 | FileCheck-22 %s --check-prefix=OUTPUT
// OUTPUT: {{.*}} has no fetch or variable 'q'
// RUN: %exit 2 halftone-run predict %s --input x=random --input y=random --output %t/z.bin 2>&1 | FileCheck-22 %s --check-prefix=OUTFILE
// OUTFILE: expected [NAME=]FILE.npy
// RUN: %exit 2 halftone-run predict %s --input 2=random 2>&1 | FileCheck-22 %s --check-prefix=NODTYPE
// NODTYPE: halftone-run: --input '2=random': '2' is a shape without a dtype; expected a type, as in 2xf32

// An option that a branch does not read, an empty value, and a target that does not run on the device.
// RUN: %exit 2 halftone-run emit %s --json 2>&1 | FileCheck-22 %s --check-prefix=EMITJSON
// EMITJSON: halftone-run: {{.*}}--json
// RUN: %exit 2 halftone-run emit %s --seed 3 2>&1 | FileCheck-22 %s --check-prefix=EMITSEED
// EMITSEED: halftone-run: {{.*}}--seed
// RUN: %exit 2 halftone-run predict %s -q -v 2>&1 | FileCheck-22 %s --check-prefix=QUIET
// QUIET: halftone-run: {{.*}}excludes
// RUN: %exit 2 halftone-run predict %s --device interpreter --threads 2 2>&1 | FileCheck-22 %s --check-prefix=ITHREADS
// ITHREADS: halftone-run: --threads: predict with --device interpreter does not read this option
// RUN: %exit 2 halftone-run predict %s --device interpreter --target host 2>&1 | FileCheck-22 %s --check-prefix=ITARGET
// ITARGET: halftone-run: --target: predict with --device interpreter does not read this option
// RUN: %exit 2 halftone-run predict %s --device interpreter --dump-ir %t 2>&1 | FileCheck-22 %s --check-prefix=IDUMP
// IDUMP: halftone-run: --dump-ir: predict with --device interpreter
// RUN: %exit 2 halftone-run predict %s --locations 2>&1 | FileCheck-22 %s --check-prefix=LOCATIONS
// LOCATIONS: halftone-run: --locations: a command that writes no module, as --dump-ir and emit do, does not read this option
// RUN: %exit 2 halftone-run emit %s --stage kernel --max-standalone-casts 1 2>&1 | FileCheck-22 %s --check-prefix=EMITCASTS
// EMITCASTS: halftone-run: --max-standalone-casts: emit of a module does not read this option
// RUN: halftone-run emit %s --format plan --no-cache -o %t/saved.plan
// RUN: %exit 2 halftone-run predict %t/saved.plan --numerics strict 2>&1 | FileCheck-22 %s --check-prefix=SAVED
// SAVED: halftone-run: --numerics: a saved plan, which is already compiled, does not read this option
// RUN: %exit 2 halftone-run predict %t/saved.plan --target host 2>&1 | FileCheck-22 %s --check-prefix=SAVEDTARGET
// SAVEDTARGET: halftone-run: --target: a saved plan, which has its target, does not read this option
// RUN: %exit 2 halftone-run predict %s --dump-ir "" 2>&1 | FileCheck-22 %s --check-prefix=EMPTY
// EMPTY: halftone-run: --dump-ir: expected a value, got ''
// RUN: %exit 2 halftone-run emit %s -o "" 2>&1 | FileCheck-22 %s --check-prefix=EMPTYOUT
// EMPTYOUT: halftone-run: -o: expected a value, got ''
// RUN: %exit 2 halftone-run predict %s --input random --target sm_80 2>&1 | FileCheck-22 %s --check-prefix=GPU
// GPU: halftone-run: --target sm_80: sm_80 is a GPU, but the device is a CPU
// RUN: %exit 2 halftone-run compare %s --target aarch64-unknown-linux-gnu:neoverse-n1 2>&1 | FileCheck-22 %s --check-prefix=ARM
// ARM: halftone-run: --target aarch64-unknown-linux-gnu:neoverse-n1: code for aarch64-unknown-linux-gnu:neoverse-n1 is compiled for aarch64; this machine is
// RUN: halftone-run emit %s --target sm_80 --format plan --no-cache -o %t/gpu.plan
// RUN: %exit 3 halftone-run predict %t/gpu.plan --input random --input random 2>&1 | FileCheck-22 %s --check-prefix=GPUPLAN
// GPUPLAN: compiled for sm_80, a GPU; expected code for this CPU
// The kernels of a plan of another version may be described in a way that this version does not know.
// RUN: %exit 3 halftone-run emit %S/../../data/compatibility/1/int4/predict.x86-64-v3.plan --format asm --target x86-64-v3 2>&1 | FileCheck-22 %s --check-prefix=OLDKERNEL
// OLDKERNEL: halftone-run: ValueError: kernel {{[0-9a-f]+}}: kernel compilation: the linalg form is not a valid kernel
// OLDKERNEL-NEXT: attribute 'halftone.few_rows' is not known on the function of a kernel
// RUN: halftone-run emit %S/../../data/compatibility/1/int4/predict.x86-64-v3.plan --format object -o %t/old.a

// Files of raw bytes: folders, pipes and devices.
// RUN: %exit 3 halftone-run predict %s --input x=2xf32=@%t --input y=random 2>&1 | FileCheck-22 %s --check-prefix=RAWFOLDER
// RAWFOLDER: halftone-run: IOError: input 'x': cannot read {{.*}}: Is a directory
// RUN: %exit 3 halftone-run predict %s --input x=2xf32=@/dev/zero --input y=random 2>&1 | FileCheck-22 %s --check-prefix=ZERO
// ZERO: halftone-run: IOError: input 'x': cannot read /dev/zero: not a regular file
// RUN: %exit 3 halftone-run predict %s --input x=2xf32=@/dev/null --input y=random 2>&1 | FileCheck-22 %s --check-prefix=NULL
// NULL: halftone-run: IOError: input 'x': cannot read /dev/null: not a regular file
// RUN: head -c 8 /dev/zero | %exit 3 halftone-run predict %s --no-cache --input x=2xf32=@/dev/stdin --input y=random 2>&1 | FileCheck-22 %s --check-prefix=PIPED
// PIPED: halftone-run: IOError: input 'x': cannot read /dev/stdin:

// Options take whole, finite values within their ranges.
// RUN: %exit 2 halftone-run predict %s --seed -1 2>&1 | FileCheck-22 %s --check-prefix=SEED
// SEED: halftone-run: --seed: expected an integer from 0 to 18446744073709551615, got '-1'
// RUN: %exit 2 halftone-run predict %s --seed 99999999999999999999 2>&1 | FileCheck-22 %s --check-prefix=SEED20
// SEED20: halftone-run: --seed: {{.*}}'99999999999999999999'
// RUN: halftone-run predict %s --no-cache --seed 18446744073709551615 --input x=random --input y=random -q
// RUN: %exit 2 halftone-run compare %s --rtol nan 2>&1 | FileCheck-22 %s --check-prefix=NAN
// NAN: halftone-run: --rtol: expected a finite number that is not negative, got 'nan'
// RUN: %exit 2 halftone-run compare %s --atol inf 2>&1 | FileCheck-22 %s --check-prefix=INF
// INF: --atol: expected a finite number
// RUN: %exit 2 halftone-run compare %s --atol 1e999 2>&1 | FileCheck-22 %s --check-prefix=INF
// RUN: %exit 2 halftone-run compare %s --atol -0.5 2>&1 | FileCheck-22 %s --check-prefix=INF
// RUN: %exit 2 halftone-run compare %s --ulp 99999999999999999999 2>&1 | FileCheck-22 %s --check-prefix=ULP
// ULP: --ulp: expected an integer from 0 to 9223372036854775807
// RUN: %exit 2 halftone-run compare %s --steps 99999999999999999999 2>&1 | FileCheck-22 %s --check-prefix=STEPS
// STEPS: --steps: expected an integer from 1 to 9223372036854775807
// RUN: %exit 2 halftone-run compare %s --steps 1.5 2>&1 | FileCheck-22 %s --check-prefix=STEPS
// RUN: %exit 2 halftone-run predict %s --threads 99999999999999999999 2>&1 | FileCheck-22 %s --check-prefix=THREADS
// RUN: %exit 2 halftone-run predict %s --max-standalone-casts=-1 2>&1 | FileCheck-22 %s --check-prefix=CASTS
// CASTS: --max-standalone-casts: expected an integer from 0
// RUN: %exit 2 halftone-run predict %s --input x=99999999999999999999xf32=1 2>&1 | FileCheck-22 %s --check-prefix=EXTENT
// EXTENT: '99999999999999999999xf32' is not a type

// 3: bad input.
// RUN: %exit 3 halftone-run predict %t/absent.mlir 2>&1 | FileCheck-22 %s --check-prefix=ABSENT
// ABSENT: halftone-run: IOError: cannot read {{.*}}absent.mlir: No such file or directory
// RUN: %exit 3 halftone-run predict %t 2>&1 | FileCheck-22 %s --check-prefix=FOLDER
// FOLDER: halftone-run: IOError: {{.*}} is a directory
// RUN: echo "this is no IR" > %t/bad.mlir
// RUN: %exit 3 halftone-run predict %t/bad.mlir 2>&1 | FileCheck-22 %s --check-prefix=SYNTAX
// SYNTAX: halftone-run: ValueError: custom op 'this' is unknown
// SYNTAX-NEXT: at: {{.*}}bad.mlir:1
// RUN: echo "module {}" > %t/empty.mlir
// RUN: %exit 3 halftone-run predict %t/empty.mlir 2>&1 | FileCheck-22 %s --check-prefix=NOMAIN
// NOMAIN: halftone-run: ValueError: {{.*}}the module has no function @main
// RUN: printf 'HTPLAN\r\nxxxxxxxx' > %t/cut.plan
// RUN: %exit 3 halftone-run predict %t/cut.plan 2>&1 | FileCheck-22 %s --check-prefix=PLAN
// PLAN: halftone-run: ValueError: {{.*}}cut.plan
// RUN: %exit 3 halftone-run predict %s --input "x=3xf32=1 2 3" --input y=random 2>&1 | FileCheck-22 %s --check-prefix=SHAPE
// SHAPE: halftone-run: ValueError: input 'x': expected 2xf32, got 3xf32
// RUN: %exit 3 halftone-run predict %s --input "x=2xf32=1 2 3" --input y=random 2>&1 | FileCheck-22 %s --check-prefix=COUNT
// COUNT: halftone-run: ValueError: input 'x': expected 2 values for 2xf32, or one for all, got 3
// RUN: echo > %t/x.bin
// RUN: %exit 3 halftone-run predict %s --input x=2xf32=@%t/x.bin --input y=random 2>&1 | FileCheck-22 %s --check-prefix=BYTES
// BYTES: halftone-run: ValueError: input 'x': {{.*}}x.bin holds 1 bytes, but 2xf32 has 8
// RUN: %exit 3 halftone-run predict %s --input x=@%t/x.npy --input y=random 2>&1 | FileCheck-22 %s --check-prefix=NPY
// NPY: halftone-run: IOError: {{.*}}x.npy
// RUN: %exit 3 halftone-run predict %s --input x=random --input y=random --output %t/no/z.npy 2>&1 | FileCheck-22 %s --check-prefix=WRITE
// WRITE: halftone-run: IOError: {{.*}}no/z.npy

// 4: no such device.
// RUN: %exit 4 halftone-run predict %s --device cuda:0 2>&1 | FileCheck-22 %s --check-prefix=CUDA
// RUN: %exit 4 halftone-run emit %s --device cuda:0 2>&1 | FileCheck-22 %s --check-prefix=CUDA
// CUDA: halftone-run: DeviceError: cuda:0 is not available:

// The object that --json gives for an error.
// RUN: %exit 3 halftone-run predict %t/bad.mlir --json 2>/dev/null | FileCheck-22 %s --check-prefix=JSON
// JSON: {"tool":"halftone-run","command":"predict","version":"{{[0-9.]+}}","schema":1,"status":"error","error":{"kind":"ValueError","message":"custom op 'this' is unknown{{.*}}","layer":null,"at":"{{.*}}bad.mlir:1","diagnostics":"{{.*}}"}}
// RUN: %exit 2 halftone-run predict %s --json 2>/dev/null | FileCheck-22 %s --check-prefix=JSONUSAGE
// JSONUSAGE: "command":"predict",{{.*}}"status":"error","error":{"kind":"UsageError","message":"no --input for x (2xf32), y (i8)","layer":null,"at":null,"diagnostics":null}}

// RUN: halftone-run --version | FileCheck-22 %s --check-prefix=VERSION
// VERSION: halftone-run {{[0-9]+\.[0-9]+\.[0-9]+}}
// RUN: halftone-run --help | FileCheck-22 %s --check-prefix=HELP
// HELP: Usage: halftone-run
// HELP: predict
// HELP: emit
// HELP: Exit codes: 0 yes
// RUN: halftone-run predict --help | FileCheck-22 %s --check-prefix=PREDICTHELP
// PREDICTHELP: --input
// PREDICTHELP: --output

halftone.variable @w : tensor<2xf32> {path = "net/w"}
func.func @main(%x: tensor<2xf32> {halftone.name = "x"}, %y: tensor<i8> {halftone.name = "y"}) -> (tensor<2xf32> {halftone.name = "z"}) {
  %w = halftone.read @w : tensor<2xf32>
  %z = halftone.mul %x, %w : tensor<2xf32>
  return %z : tensor<2xf32>
}
