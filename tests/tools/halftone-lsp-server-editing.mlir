// RUN: halftone-lsp-server -lit-test < %s | FileCheck-22 %s
// RUN: halftone-lsp-server --help | FileCheck-22 %s --check-prefix=HELP
// HELP: USAGE: halftone-lsp-server
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":123,"rootPath":"mlir","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{
  "uri":"test:///net.mlir",
  "languageId":"mlir",
  "version":1,
  "text":"module attributes {halftone.stage = \"cast\"} {\n  func.func @main(%x: tensor<4xf32> {halftone.name = \"x\"}) -> (tensor<4xf32> {halftone.name = \"y\"}) {\n    %y = halftone.layer \"net/tanh\" policy \"float32\" (%x) : (tensor<4xf32>) -> tensor<4xf32> {\n    ^bb0(%a: tensor<4xf32>):\n      %0 = halftone.tanh %a : tensor<4xf32>\n      halftone.yield %0 : tensor<4xf32>\n    }\n    return %y : tensor<4xf32>\n  }\n}"
}}}
// A layer in stage cast breaks the contract that the module declares.
// CHECK: "method": "textDocument/publishDiagnostics",
// CHECK: "message": "'halftone.layer' op is not legal in stage cast: expected no layer after inline-layers"
// CHECK: "line": 2
// -----
{"jsonrpc":"2.0","method":"textDocument/didChange","params":{
  "textDocument":{"uri":"test:///net.mlir","version":2},
  "contentChanges":[{"text":"module attributes {halftone.stage = \"graph\"} {\n  func.func @main(%x: tensor<4xf32> {halftone.name = \"x\"}) -> (tensor<4xf32> {halftone.name = \"y\"}) {\n    %y = halftone.tanh %x : tensor<4xf32>\n    return %y : tensor<4xf32>\n  }\n}"}]
}}
// CHECK: "method": "textDocument/publishDiagnostics",
// CHECK: "diagnostics": [],
// -----
{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{
  "textDocument":{"uri":"test:///net.mlir"},
  "position":{"line":2,"character":16}
}}
// CHECK: "id": 1,
// CHECK: "value": "\"halftone.tanh\"
// CHECK-SAME: _Hyperbolic tangent_
// CHECK-SAME: operation ::= `halftone.tanh` $x attr-dict
// -----
{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{
  "textDocument":{"uri":"test:///net.mlir"},
  "position":{"line":3,"character":6}
}}
// CHECK: "id": 2,
// CHECK: "value": "\"func.return\"
// CHECK-NOT: operation ::=
// -----
{"jsonrpc":"2.0","method":"textDocument/didChange","params":{
  "textDocument":{"uri":"test:///net.mlir","version":3},
  "contentChanges":[{"text":"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = halftone.\n  return %x : tensor<4xf32>\n}"}]
}}
// -----
{"jsonrpc":"2.0","id":3,"method":"textDocument/completion","params":{
  "textDocument":{"uri":"test:///net.mlir"},
  "position":{"line":1,"character":16}
}}
// CHECK: "id": 3,
// CHECK-DAG: "label": "cast",
// CHECK-DAG: "label": "layer",
// CHECK-DAG: "label": "stop_gradient",
// -----
{"jsonrpc":"2.0","id":4,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
