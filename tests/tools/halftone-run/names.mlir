// Names with control characters are escaped in plans and tables, as in modules.
// RUN: halftone-run emit %s --stage plan --no-cache | FileCheck-22 %s --check-prefix=PLAN
// PLAN: feed 0 "a\0A\1B[31m"
// PLAN: fetch 0 "\FFy"
// RUN: halftone-run predict %s --no-cache --input 4xf32=random | FileCheck-22 %s --check-prefix=PREDICT
// PREDICT: {{^}}\FFy: 4xf32, 4 of 4 finite
// RUN: halftone-run compare %s --no-cache | FileCheck-22 %s --check-prefix=COMPARE
// COMPARE: {{^}}\FFy
func.func @main(%x: tensor<4xf32> {halftone.name = "a\0A\1B[31m"}) -> (tensor<4xf32> {halftone.name = "\FFy"}) {
  %y = halftone.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
