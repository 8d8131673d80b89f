#!/usr/bin/env python3
# Tests the method counter: the declarations of a class that count, and the classes that a source defines.
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.dont_write_bytecode = True
from class_methods import class_methods  # noqa: E402


class ClassMethods(unittest.TestCase):
    def expect(self, body, *methods):
        """Checks that a class C with this `body` has these methods."""
        for key in ("class C", "struct C final", "class HALFTONE_API C : public Base<int>, private ns::Other", "template <class T> struct C<T *>"):
            text = f"int before;\n{key} {{\n{body}\n}};\nvoid after();\n"
            found = class_methods(text)
            self.assertEqual(("C", 2, list(methods)), (found[0].name, found[0].line, found[0].methods), text)

    def test_declarations_and_definitions_count(self):
        self.expect("void a();\nint b(int x = f(1), T<int> y = {}) const { return g(x); }\nstatic C of(int);\nvirtual void c() = 0;", "a", "b", "of", "c")
        self.expect("auto d() const noexcept(true) -> std::pair<int, int> { return {}; }\nint e() && = delete;\nvoid f() override;", "d", "e", "f")
        self.expect("[[nodiscard]] constexpr const ns::T<A, B> &g() const;\nunsigned h(), i();", "g", "h", "i")
        self.expect("public:\n  void j();\nprivate:\n  void k();", "j", "k")
        self.expect("int (*l(int))(int);\nint (&m())[3];\ndecltype(auto) n();", "l", "m", "n")

    def test_overloads_templates_and_operators_count_one_each(self):
        self.expect("void a(int);\nvoid a(double);\nvoid a(int) const;", "a", "a", "a")
        self.expect("template <class T, int n = (1 > 0)> void a(T);\ntemplate <class T>\n  requires std::is_integral_v<T> && (sizeof(T) > 2)\nvoid b(T);", "a", "b")
        self.expect("template <class T> T c(T x) requires requires { x.y(); } { return x; }", "c")
        self.expect("bool operator==(const C &) const = default;\nbool operator<(C) const;\nC operator<<(int);\nint operator()(int);\nint operator[](int);",
                    "operator==", "operator<", "operator<<", "operator()", "operator[]")
        self.expect("explicit operator bool() const;\noperator std::vector<int>();\nC *operator->();", "operatorbool", "operatorstd::vector<", "operator->")

    def test_special_members_do_not_count(self):
        self.expect("C();\nexplicit C(int x) : a(x), b{x, {1}}, Base<int>(g(x)) { h(); }\nC(const C &) = delete;\nC &operator=(C &&) = default;\n"
                    "template <class... A> C(A... a) : t(a...) {}\n~C();\nvirtual ~C() noexcept(false) {}")

    def test_data_and_types_do_not_count(self):
        self.expect("int a = f(1), b{g(2)};\nstd::function<void(int)> c = [](int) { h(); };\nvoid (*d)(int);\nint (C::*e)(int);\nint f[size(3)];")
        self.expect("static constexpr int a = call(1);\nunsigned b : 3 = 1;\nusing F = void(int);\ntypedef void G(int);\nenum class E : int { x = f(1) };")
        self.expect("struct stat a{};\nstruct Forward;\nstatic_assert(sizeof(int) == 4);\nusing Base::a;\nalignas(16) char b[4];")
        self.expect("friend void a(C);\nfriend class D;\nfriend bool operator<(C, C) { return true; }")
        self.expect("HALFTONE_FIELD(a, b)\nHALFTONE_FIELD(c, d);\nvoid e();", "e")

    def test_text_that_is_no_code_does_not_count(self):
        self.expect('// void a();\n/* void b(); */\n#define X void c(); \\\n  void d();\nconst char *e = "void f(); {", g = \'{\', *h = R"x(void i(); })x";')
        self.expect("long a = 1'000'000;\nvoid b();", "b")

    def test_nested_and_local_classes_have_methods_of_their_own(self):
        found = class_methods("namespace n {\nstruct A {\n  void a();\n  class B : A { void b(); void c(); } b;\n  struct { void d(); };\n"
                              "  void e() {\n    struct L { void f(); };\n  }\n};\n}\n")
        self.assertEqual([("A", 2, ["a", "e"]), ("B", 4, ["b", "c"]), ("", 5, ["d"]), ("L", 7, ["f"])], [tuple(c) for c in found])

    def test_only_definitions_are_classes(self):
        self.assertEqual([], class_methods("class A;\nenum class B { x };\ntemplate <class T, class U = int> void f(T) {}\nstruct stat g{};\n"
                                           "void C::h() {}\nclass D *i();\n"))
        self.assertEqual(["B"], [c.name for c in class_methods("struct A::B : C { int a; };\n")])


if __name__ == "__main__":
    unittest.main()
