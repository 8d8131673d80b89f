// RUN: halftone-lsp-server -lit-test < %s | FileCheck-22 -strict-whitespace %s
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":123,"rootPath":"mlir","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{
  "uri":"test:///net.mlir",
  "languageId":"mlir",
  "version":1,
  "text":"func.func @main(%x: tensor<4xf32>) -> tensor<4xf16> {\n  %y = halftone.abs %x : tensor<4xf16>\n  return %y : tensor<4xf16>\n}"
}}}
// CHECK: "method": "textDocument/publishDiagnostics",
// CHECK: "message": "use of value '%x' expects different type than prior uses: 'tensor<4xf16>' vs 'tensor<4xf32>'"
// -----
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
