# Lists the classes that a C++ source defines, with the methods that each declares: a reader of declarations, without types or macros.
# SPDX-License-Identifier: Apache-2.0
"""Used by target_rules.py. `class_methods(text)` returns a CppClass for each class, struct and union of the text.

A method is each member function that the class body declares or defines: overloads, static functions, function templates and
operators count one each. Constructors, destructors, assignments, friends, members of nested or local classes, and data
members, also those that are functions or pointers to functions, do not count.
"""
import re
from collections import namedtuple

CppClass = namedtuple("CppClass", "name line methods")
Token = namedtuple("Token", "text line")

TOKEN = re.compile(
    r'(?P<gap>\s+|//[^\n]*|/\*.*?\*/|\#(?:\\\n|[^\n])*)'
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)")'
    r'|(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")'
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>::|->|\.\.\.|.)", re.S)
CLOSING = {"(": ")", "[": "]", "{": "}"}
CLASS_KEYS = ("class", "struct", "union")
ACCESS = ("public", "protected", "private")
# Names before a parenthesis that does not begin a parameter list.
NO_FUNCTIONS = ("alignas", "decltype", "explicit", "__attribute__")


def tokens_of(text):
    """The tokens of `text`: each literal is one token; comments and preprocessor lines are skipped."""
    tokens, line = [], 1
    for match in TOKEN.finditer(text):
        if match.lastgroup != "gap":
            literal = match["raw"] or match["string"] or match["character"]
            tokens.append(Token('""' if literal else match[0], line))
        line += match[0].count("\n")
    return tokens


def is_name(text):
    return bool(re.match(r"[A-Za-z_]", text))


class Reader:
    """Reads declarations from left to right. All positions are indices into `tokens`."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.found = []

    def text(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def after(self, at):
        """The position after the bracket that closes the one at `at`."""
        depth = 0
        while at < len(self.tokens):
            depth += (self.text(at) in CLOSING) - (self.text(at) in CLOSING.values())
            at += 1
            if depth == 0:
                break
        return at

    def after_angles(self, at):
        """The position after the list of template arguments or parameters that begins at `at`."""
        depth = 0
        while at < len(self.tokens):
            text = self.text(at)
            if text in CLOSING:
                at = self.after(at)
                continue
            if text in (";", *CLOSING.values()):
                break  # it was a comparison
            depth += (text == "<") - (text == ">")
            at += 1
            if depth == 0:
                break
        return at

    def after_name(self, at):
        """The position after a name with its qualifiers and template arguments."""
        while self.text(at) == "::" or is_name(self.text(at)):
            at += 1
            if self.text(at) == "<":
                at = self.after_angles(at)
            if self.text(at) != "::":
                break
        return at

    def after_constraint(self, at):
        """The position after the constraint of a requires-clause; `at` is its first token."""
        while True:
            while self.text(at) == "!":
                at += 1
            if self.text(at) == "requires":  # a requires-expression
                at = self.after(at + 1) if self.text(at + 1) == "(" else at + 1
                at = self.after(at)
            elif self.text(at) == "(":
                at = self.after(at)
            else:
                at = self.after_name(at)
                if self.text(at) == "(":
                    at = self.after(at)
            if (self.text(at), self.text(at + 1)) not in (("&", "&"), ("|", "|")):
                return at
            at += 2

    def after_attributes(self, at):
        while (self.text(at), self.text(at + 1)) == ("[", "[") or self.text(at) in ("alignas", "__attribute__"):
            at = self.after(at if self.text(at) == "[" else at + 1)
        return at

    def after_template(self, at):
        """The position after `template <...>` and its constraint, if there are any at `at`."""
        while self.text(at) == "template":
            at = self.after_angles(at + 1) if self.text(at + 1) == "<" else at + 1
            if self.text(at) == "requires":
                at = self.after_constraint(at + 1)
        return at

    def class_body(self, at):
        """(name, position of the brace) if the key at `at` defines a class; else None."""
        at = self.after_attributes(at + 1)
        name = ""
        while is_name(self.text(at)) and self.text(at) != "final":
            if name and not name.isupper():  # an elaborated type, as in `struct stat state{}`: a macro may precede a name
                return None
            name = self.text(at)
            end = self.after_name(at)
            name = next((self.text(i) for i in range(end - 1, at, -1) if self.text(i - 1) == "::"), name)
            at = self.after_attributes(end)
        at += self.text(at) == "final"
        if self.text(at) == ":":
            while at < len(self.tokens) and self.text(at) not in ("{", ";"):
                at = self.after_angles(at) if self.text(at) == "<" else at + 1
        return (name, at) if self.text(at) == "{" else None

    def scan(self, at, end):
        """Finds the classes between two positions outside of any class, in a namespace or a function body."""
        while at < end:
            text = self.text(at)
            if text == "enum":
                at += 1 + (self.text(at + 1) in CLASS_KEYS)
                continue
            if text == "template" and self.text(at + 1) == "<":
                at = self.after_angles(at + 1)
                continue
            body = self.class_body(at) if text in CLASS_KEYS else None
            at = self.read_class(at, *body) if body else at + 1

    def read_class(self, key, name, brace):
        """Reads a class whose body begins at `brace`; returns the position after it."""
        methods, end = [], self.after(brace)
        index = len(self.found)
        at = brace + 1
        while at < end - 1:
            at = max(self.member(at, end - 1, name, methods), at + 1)
        self.found.insert(index, CppClass(name, self.tokens[key].line, methods))
        return end

    def member(self, at, end, owner, methods):
        """Reads one member; returns the position after it."""
        text = self.text(at)
        if text == ";":
            return at + 1
        if text in ACCESS and self.text(at + 1) == ":":
            return at + 2
        at = self.after_attributes(self.after_template(at))
        text = self.text(at)
        if text in ("using", "typedef", "static_assert", "enum"):
            return self.after_data(at, end)
        if text == "friend":
            return self.declarators(at + 1, end, owner, [])
        if text in CLASS_KEYS and (body := self.class_body(at)):
            return self.after_data(self.read_class(at, *body), end)
        return self.declarators(at, end, owner, methods)

    def after_data(self, at, end):
        """The position after the semicolon that ends a declaration. Finds classes in lambdas."""
        begin = at
        while at < end and self.text(at) != ";":
            at = self.after(at) if self.text(at) in CLOSING else at + 1
        self.scan(begin, at)
        return at + 1

    def declarators(self, at, end, owner, methods):
        """Reads specifiers and the declarators after them, and adds functions to `methods`."""
        before = []  # specifiers and the type
        while at < end:
            text = self.text(at)
            if text in (";", "=", "{", ":"):
                return self.after_data(at, end)
            if text == "operator":
                methods_here, at = self.operator(at)
                methods.extend(name for name in methods_here if name != "operator=")
                at, more = self.after_function(at, end)
                if not more:
                    return at
            elif text == "(":
                at, more = self.after_parenthesis(at, end, owner, before, methods)
                if not more:
                    return at
            elif text in NO_FUNCTIONS and self.text(at + 1) == "(":
                before.extend([text] if text == "decltype" else [])  # it is a type
                at = self.after(at + 1)
            elif text == "<":
                at = self.after_angles(at)
            elif text == "[":
                at = self.after(at)
            else:
                before.append(text)
                at += 1
        return at

    def operator(self, at):
        """The name of the operator at `at`, as a list, and the position of its parameters."""
        name = "operator"
        at += 1
        if (self.text(at), self.text(at + 1)) in (("(", ")"), ("[", "]")):
            return [name + self.text(at) + self.text(at + 1)], at + 2
        while self.text(at) and self.text(at) != "(":
            name += self.text(at)
            at = self.after_angles(at) if self.text(at) == "<" and len(name) > len("operator<") and is_name(
                self.text(at - 1)) else at + 1
        return [name], at

    def after_parenthesis(self, at, end, owner, before, methods):
        """(position after, whether a declarator may follow) for the declarator whose first parenthesis is at `at`."""
        inside = self.text(at + 1)
        if inside in ("*", "&") or (is_name(inside) and self.points_to_member(at + 1)):
            close = self.after(at)
            named = next((i for i in range(at + 1, close) if is_name(self.text(i)) and self.text(i + 1) == "("), None)
            if named is not None:  # a function that returns a pointer or a reference: its parameters are inside
                methods.append(self.text(named))
                close = self.after(close) if self.text(close) in ("(", "[") else close
                return self.after_function(close, end, parameters=False)
            return self.after_data(close, end), False
        name = before[-1] if before else ""
        if not is_name(name):
            return self.after(at), True
        is_special = name == owner or before[-2:-1] == ["~"]
        if not is_special and len(before) == 1:  # a macro: a function has a type before its name
            at = self.after(at)
            before.clear()
            return at, True
        if not is_special:
            methods.append(name)
        return self.after_function(at, end)

    def points_to_member(self, at):
        """Returns true if `Class::*` is at `at`."""
        while is_name(self.text(at)) and self.text(at + 1) == "::":
            at += 2
            if self.text(at) == "*":
                return True
        return False

    def after_function(self, at, end, parameters=True):
        """(position after, whether a declarator follows) for a function whose parameters begin at `at`."""
        if parameters:
            at = self.after(at)
        while at < end:
            text = self.text(at)
            if text == ",":
                return at + 1, True
            if text == ";":
                return at + 1, False
            if text == "{":
                close = self.after(at)
                self.scan(at + 1, close - 1)
                return close, False
            if text == ":":
                at = self.after_initialisers(at + 1)
            elif text == "requires":
                at = self.after_constraint(at + 1)
            elif text in ("(", "["):
                at = self.after(at)
            elif text == "<":
                at = self.after_angles(at)
            else:
                at += 1
        return at, False

    def after_initialisers(self, at):
        """The position of the brace that begins a constructor's body."""
        while is_name(self.text(at)) or self.text(at) == "::":
            at = self.after(self.after_name(at))
            at += self.text(at) == "..."
            if self.text(at) != ",":
                break
            at += 1
        return at


def class_methods(text):
    reader = Reader(text)
    reader.scan(0, len(reader.tokens))
    return reader.found
