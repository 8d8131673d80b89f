// RUN: halftone-opt %s --split-input-file --halftone-lift-variables --verify-diagnostics | FileCheck-22 %s

// Arguments in the order of first use, results in the order of first assignment; a read sees the latest value before
// it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[D:.*]]: tensor<4xf32> {halftone.name = "d"}, %[[N:.*]]: tensor<i32> {halftone.variable = @n}, %[[W:.*]]: tensor<4xf32> {halftone.variable = @w})
// CHECK-SAME: -> (tensor<4xf32> {halftone.name = "before"}, tensor<4xf32> {halftone.name = "after"}, tensor<i32> {halftone.variable = @n}, tensor<4xf32> {halftone.variable = @w})
// CHECK-NEXT: %[[N1:.*]] = halftone.add %[[N]], %[[N]]
// CHECK-NEXT: %[[W1:.*]] = halftone.sub %[[W]], %[[D]]
// CHECK-NEXT: %[[W2:.*]] = halftone.mul %[[W1]], %[[W1]]
// CHECK-NEXT: return %[[W]], %[[W2]], %[[N1]], %[[W2]]
halftone.variable @unused : tensor<4xf32>
halftone.variable @w : tensor<4xf32>
halftone.variable @n : tensor<i32>
func.func @main(%d: tensor<4xf32> {halftone.name = "d"})
    -> (tensor<4xf32> {halftone.name = "before"}, tensor<4xf32> {halftone.name = "after"}) {
  %n = halftone.read @n : tensor<i32>
  %n1 = halftone.add %n, %n : tensor<i32>
  halftone.assign @n, %n1 : tensor<i32>
  %w = halftone.read @w : tensor<4xf32>
  %w1 = halftone.sub %w, %d : tensor<4xf32>
  halftone.assign @w, %w1 : tensor<4xf32>
  %r = halftone.read @w : tensor<4xf32>
  %w2 = halftone.mul %r, %r : tensor<4xf32>
  halftone.assign @w, %w2 : tensor<4xf32>
  %a = halftone.read @w : tensor<4xf32>
  return %w, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// Assignments in regions become results of the `when`; the other region yields the value from before it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[P:.*]]: tensor<i1> {halftone.name = "p"}, %[[W:.*]]: tensor<4xf32> {halftone.variable = @w}, %[[S:.*]]: tensor<4xf32> {halftone.variable = @s})
// CHECK-SAME: -> (tensor<4xf32> {halftone.name = "y"}, tensor<4xf32> {halftone.variable = @w}, tensor<4xf32> {halftone.variable = @s})
// CHECK-NEXT: %[[W1:.*]] = halftone.neg %[[W]]
// CHECK-NEXT: %[[R:.*]]:3 = halftone.when %[[P]] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:   %[[W2:.*]] = halftone.add %[[W1]], %[[W1]]
// CHECK-NEXT:   halftone.yield %[[W2]], %[[W2]], %[[S]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[S1:.*]] = halftone.abs %[[S]]
// CHECK-NEXT:   halftone.yield %[[S1]], %[[W1]], %[[S1]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[Y:.*]] = halftone.mul %[[R]]#0, %[[R]]#1
// CHECK-NEXT: return %[[Y]], %[[R]]#1, %[[R]]#2
halftone.variable @s : tensor<4xf32>
halftone.variable @w : tensor<4xf32>
func.func @main(%p: tensor<i1> {halftone.name = "p"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %w = halftone.read @w : tensor<4xf32>
  %w1 = halftone.neg %w : tensor<4xf32>
  halftone.assign @w, %w1 : tensor<4xf32>
  %0 = halftone.when %p : (tensor<4xf32>) {
    %w2 = halftone.read @w : tensor<4xf32>
    %w3 = halftone.add %w2, %w2 : tensor<4xf32>
    halftone.assign @w, %w3 : tensor<4xf32>
    halftone.yield %w3 : tensor<4xf32>
  } else {
    %s = halftone.read @s : tensor<4xf32>
    %s1 = halftone.abs %s : tensor<4xf32>
    halftone.assign @s, %s1 : tensor<4xf32>
    halftone.yield %s1 : tensor<4xf32>
  }
  %w4 = halftone.read @w : tensor<4xf32>
  %y = halftone.mul %0, %w4 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Nested regions, and a variable that is only written: it is no argument if its old value is not needed.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[P:.*]]: tensor<i1> {halftone.name = "p"}, %[[Q:.*]]: tensor<i1> {halftone.name = "q"}, %[[X:.*]]: tensor<f32> {halftone.name = "x"}, %[[W:.*]]: tensor<f32> {halftone.variable = @w})
// CHECK-SAME: -> (tensor<f32> {halftone.variable = @w}, tensor<f32> {halftone.variable = @lr})
// CHECK-NEXT: %[[R:.*]] = halftone.when %[[P]] : (tensor<f32>) {
// CHECK-NEXT:   %[[I:.*]] = halftone.when %[[Q]] : (tensor<f32>) {
// CHECK-NEXT:     halftone.yield %[[X]]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     halftone.yield %[[W]]
// CHECK:        halftone.yield %[[I]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   halftone.yield %[[W]]
// CHECK:      return %[[R]], %[[X]]
halftone.variable @lr : tensor<f32>
halftone.variable @w : tensor<f32>
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %q: tensor<i1> {halftone.name = "q"},
                %x: tensor<f32> {halftone.name = "x"}) {
  halftone.when %p : () {
    halftone.when %q : () {
      halftone.assign @w, %x : tensor<f32>
    } else {
    }
  } else {
  }
  halftone.assign @lr, %x : tensor<f32>
  return
}

// -----

// A variable is differentiated at the values that its reads gave: here those on entry; the order of the results is kept.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<f32> {halftone.name = "x"}, %[[A:.*]]: tensor<f32> {halftone.variable = @a}, %[[B:.*]]: tensor<f32> {halftone.variable = @b}
// CHECK: halftone.gradient %{{.*}} at (%[[B]] : tensor<f32>, %[[A]] : tensor<f32>, %[[X]] : tensor<f32>)
halftone.variable @a : tensor<f32>
halftone.variable @b : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "g"}) {
  %a = halftone.read @a : tensor<f32>
  halftone.assign @a, %x : tensor<f32>
  %y = halftone.mul %a, %x : tensor<f32>
  %g:3 = halftone.gradient %y of [@b, @a] at (%x : tensor<f32>) : tensor<f32> -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %g#1 : tensor<f32>
}

// -----

// A read behind an assignment is a leaf of its own, shared by the reads of one value. The value on entry, which %y does not
// depend on, is no argument; that of another variable with the same value is another leaf.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "g"}, tensor<f32> {halftone.name = "h"}, tensor<f32> {halftone.variable = @w}, tensor<f32> {halftone.variable = @v})
// CHECK-DAG: %[[W:.*]] = halftone.stop_gradient %[[X]] {variable = @w}
// CHECK-DAG: %[[V:.*]] = halftone.stop_gradient %[[X]] {variable = @v}
// CHECK: %[[Y:.*]] = halftone.mul %[[W]], %[[W]]
// CHECK-NEXT: %[[Z:.*]] = halftone.mul %[[Y]], %[[V]]
// CHECK-NEXT: %[[G:.*]]:2 = halftone.gradient %[[Z]] at (%[[W]] : tensor<f32>, %[[V]] : tensor<f32>)
// CHECK-NEXT: return %[[G]]#0, %[[G]]#1, %[[X]], %[[X]]
halftone.variable @w : tensor<f32>
halftone.variable @v : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "g"}, tensor<f32> {halftone.name = "h"}) {
  halftone.assign @w, %x : tensor<f32>
  halftone.assign @v, %x : tensor<f32>
  %a = halftone.read @w : tensor<f32>
  %b = halftone.read @w : tensor<f32>
  %y = halftone.mul %a, %b : tensor<f32>
  %c = halftone.read @v : tensor<f32>
  %z = halftone.mul %y, %c : tensor<f32>
  %g:2 = halftone.gradient %z of [@w, @v] : tensor<f32> -> (tensor<f32>, tensor<f32>)
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// -----

// The derivatives at several values of one variable are added up; a variable that takes its gradient has the largest.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[W1:.*]] = halftone.stop_gradient %{{.*}} {variable = @w}
// CHECK-DAG: %[[S1:.*]] = halftone.stop_gradient %{{.*}} {variable = @s}
// CHECK: %[[G:.*]]:5 = halftone.gradient %{{.*}} at (%[[W:[a-z0-9]*]] : tensor<f32>, %[[W1]] : tensor<f32>, %[[S:[a-z0-9]*]] : tensor<f32>, %[[S1]] : tensor<f32>, %[[X:[a-z0-9]*]] : tensor<f32>)
// CHECK-NEXT: %[[A:.*]] = halftone.add %[[G]]#0, %[[G]]#1
// CHECK-NEXT: %[[B:.*]] = halftone.maximum %[[G]]#2, %[[G]]#3
// CHECK-NEXT: return %[[A]], %[[B]], %[[G]]#4
halftone.variable @w : tensor<f32>
halftone.variable @s : tensor<f32> {update = #halftone<update overwrite>}
func.func @main(%x: tensor<f32> {halftone.name = "x"})
    -> (tensor<f32> {halftone.name = "g"}, tensor<f32> {halftone.name = "h"}, tensor<f32> {halftone.name = "i"}) {
  %w = halftone.read @w : tensor<f32>
  %s = halftone.read @s : tensor<f32>
  %w1 = halftone.neg %w : tensor<f32>
  %s1 = halftone.neg %s : tensor<f32>
  halftone.assign @w, %w1 : tensor<f32>
  halftone.assign @s, %s1 : tensor<f32>
  %w2 = halftone.read @w : tensor<f32>
  %s2 = halftone.read @s : tensor<f32>
  %0 = halftone.mul %w, %w2 : tensor<f32>
  %1 = halftone.mul %s, %s2 : tensor<f32>
  %2 = halftone.mul %0, %1 : tensor<f32>
  %y = halftone.mul %2, %x : tensor<f32>
  %g:3 = halftone.gradient %y of [@w, @s] at (%x : tensor<f32>) : tensor<f32> -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %g#0, %g#1, %g#2 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// An update under a condition: the value behind it is a leaf, and the condition is not differentiated.
// CHECK-LABEL: func.func @main
// CHECK: %[[R:.*]] = halftone.when
// CHECK: %[[W:.*]] = halftone.stop_gradient %[[R]] {variable = @w}
// CHECK: halftone.gradient %{{.*}} at (%[[W]] : tensor<f32>)
halftone.variable @w : tensor<f32>
func.func @main(%p: tensor<i1> {halftone.name = "p"}) -> (tensor<f32> {halftone.name = "g"}) {
  halftone.when %p : () {
    %w = halftone.read @w : tensor<f32>
    %n = halftone.neg %w : tensor<f32>
    halftone.assign @w, %n : tensor<f32>
  } else {
  }
  %w1 = halftone.read @w : tensor<f32>
  %y = halftone.mul %w1, %w1 : tensor<f32>
  %g = halftone.gradient %y of [@w] : tensor<f32> -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// A value that a branch has assigned and read is out of the reach of a derivative behind the `when`.
halftone.variable @w : tensor<f32>
func.func @main(%p: tensor<i1> {halftone.name = "p"}, %x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "g"}) {
  // expected-error @below {{'halftone.when' op assigns @w and reads the new value; expected no gradient with respect to @w of a value that depends on it}}
  %y = halftone.when %p : (tensor<f32>) {
    %0 = halftone.abs %x : tensor<f32>
    halftone.assign @w, %0 : tensor<f32>
    %w = halftone.read @w : tensor<f32>
    %n = halftone.neg %w : tensor<f32>
    halftone.yield %n : tensor<f32>
  } else {
    halftone.yield %x : tensor<f32>
  }
  // expected-note @below {{differentiated here}}
  %g = halftone.gradient %y of [@w] : tensor<f32> -> tensor<f32>
  return %g : tensor<f32>
}

// -----

halftone.variable @w : tensor<4xf32>
func.func @main() -> (tensor<4xf16> {halftone.name = "w"}) {
  // expected-error @below {{'halftone.read' op has type 'tensor<4xf16>' for a variable of type 'tensor<4xf32>'; expected insert-casts to run first}}
  %w = halftone.read @w : tensor<4xf16>
  return %w : tensor<4xf16>
}

// -----

// A variable that a loop assigns is a carry: each step reads the value of the step before. Another variable is a capture. A nested
// loop carries the variable on, and a branch in the body yields it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32> {halftone.name = "x"}, %[[P:.*]]: tensor<i1> {halftone.name = "p"}, %[[N:.*]]: tensor<f32> {halftone.variable = @n}, %[[K:.*]]: tensor<f32> {halftone.variable = @k})
// CHECK-SAME: -> (tensor<3xf32> {halftone.name = "y"}, tensor<f32> {halftone.name = "after"}, tensor<f32> {halftone.variable = @n})
// CHECK-NEXT: %[[N0:.*]] = halftone.neg %[[N]]
// CHECK-NEXT: %[[S:.*]]:2 = halftone.scan(%[[N0]]) over(%[[X]]) {length = 3 : i64, reverse} : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[C:.*]]: tensor<f32>, %[[A:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[N1:.*]] = halftone.mul %[[C]], %[[K]]
// CHECK-NEXT:   %[[I:.*]] = halftone.scan(%[[N1]]) {length = 2 : i64}
// CHECK-NEXT:   ^bb0(%{{.*}}: tensor<i32>, %[[D:.*]]: tensor<f32>):
// CHECK-NEXT:     %[[D1:.*]] = halftone.add %[[D]], %[[A]]
// CHECK-NEXT:     halftone.yield %[[D1]] : tensor<f32>
// CHECK:        %[[W:.*]] = halftone.when %[[P]] : (tensor<f32>) {
// CHECK-NEXT:     %[[W1:.*]] = halftone.abs %[[I]]
// CHECK-NEXT:     halftone.yield %[[W1]]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     halftone.yield %[[I]]
// CHECK:        halftone.yield %[[W]], %[[C]] : tensor<f32>, tensor<f32>
// CHECK:      return %[[S]]#1, %[[S]]#0, %[[S]]#0
halftone.variable @n : tensor<f32>
halftone.variable @k : tensor<f32>
func.func @main(%x: tensor<3xf32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"})
    -> (tensor<3xf32> {halftone.name = "y"}, tensor<f32> {halftone.name = "after"}) {
  %n = halftone.read @n : tensor<f32>
  %n0 = halftone.neg %n : tensor<f32>
  halftone.assign @n, %n0 : tensor<f32>
  %y = halftone.scan () over (%x) {length = 3 : i64, reverse} : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%i: tensor<i32>, %a: tensor<f32>):
    %c = halftone.read @n : tensor<f32>
    %k = halftone.read @k : tensor<f32>
    %0 = halftone.mul %c, %k : tensor<f32>
    halftone.assign @n, %0 : tensor<f32>
    halftone.scan () {length = 2 : i64} : () -> () {
    ^bb0(%j: tensor<i32>):
      %d = halftone.read @n : tensor<f32>
      %1 = halftone.add %d, %a : tensor<f32>
      halftone.assign @n, %1 : tensor<f32>
      halftone.yield
    }
    halftone.when %p : () {
      %e = halftone.read @n : tensor<f32>
      %2 = halftone.abs %e : tensor<f32>
      halftone.assign @n, %2 : tensor<f32>
    } else {
    }
    halftone.yield %c : tensor<f32>
  }
  %after = halftone.read @n : tensor<f32>
  return %y, %after : tensor<3xf32>, tensor<f32>
}

// -----

// The condition of a while reads what the body has assigned.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<f32> {halftone.name = "x"}, %[[N:.*]]: tensor<f32> {halftone.variable = @n}
// CHECK: %[[W:.*]]:2 = halftone.while(%[[X]], %[[N]]) {maximum = 9 : i64}
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[D:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[GO:.*]] = halftone.compare lt %[[D]], %[[X]]
// CHECK-NEXT:   halftone.yield %[[GO]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[A:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[N1:.*]] = halftone.add %[[C]], %[[A]]
// CHECK-NEXT:   halftone.yield %[[C]], %[[N1]] : tensor<f32>, tensor<f32>
// CHECK: return %[[W]]#0, %[[W]]#1
halftone.variable @n : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "y"}) {
  %y = halftone.while (%x) {maximum = 9 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%b: tensor<f32>):
    %d = halftone.read @n : tensor<f32>
    %go = halftone.compare lt %d, %x : tensor<f32>
    halftone.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<f32>):
    %c = halftone.read @n : tensor<f32>
    %0 = halftone.add %c, %a : tensor<f32>
    halftone.assign @n, %0 : tensor<f32>
    halftone.yield %c : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// In a body a read behind an assignment is a leaf of the gradients there, and the derivative flows through no assignment.
// CHECK-LABEL: func.func @main
// CHECK: halftone.scan
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[C:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[L:.*]] = halftone.stop_gradient %[[C]] {variable = @w}
// CHECK-NEXT:   %[[Y:.*]] = halftone.mul %[[L]], %[[L]]
// CHECK-NEXT:   %[[D:.*]] = halftone.gradient %[[Y]] at (%[[L]] : tensor<f32>)
// CHECK-NEXT:   %[[W:.*]] = halftone.sub %[[L]], %[[D]]
// CHECK-NEXT:   halftone.yield %[[W]] : tensor<f32>
halftone.variable @w : tensor<f32>
func.func @main() {
  halftone.scan () {length = 5 : i64} : () -> () {
  ^bb0(%i: tensor<i32>):
    %w = halftone.read @w : tensor<f32>
    %y = halftone.mul %w, %w : tensor<f32>
    %d = halftone.gradient %y of [@w] : tensor<f32> -> tensor<f32>
    %w1 = halftone.sub %w, %d : tensor<f32>
    halftone.assign @w, %w1 : tensor<f32>
    halftone.yield
  }
  return
}

// -----

halftone.variable @w : tensor<f32>
func.func @main(%x: tensor<f32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "g"}) {
  // expected-error @below {{'halftone.scan' op assigns @w and reads the new value; expected no gradient with respect to @w of a value that depends on it}}
  %y = halftone.scan (%x) {length = 2 : i64} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %c: tensor<f32>):
    %w = halftone.read @w : tensor<f32>
    halftone.assign @w, %c : tensor<f32>
    %0 = halftone.mul %w, %c : tensor<f32>
    halftone.yield %0 : tensor<f32>
  }
  // expected-note @below {{differentiated here}}
  %g = halftone.gradient %y of [@w] : tensor<f32> -> tensor<f32>
  return %g : tensor<f32>
}
