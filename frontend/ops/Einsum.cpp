// keras.ops.einsum: contractions given by an equation of labels.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Contraction.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

/// One label per axis: a letter or, for the axes of "...", -1, -2, ... from the last one on.
using Labels = std::vector<int>;

bool contains(const Labels &labels, int label) { return std::ranges::find(labels, label) != labels.end(); }
int64_t positionOf(const Labels &labels, int label) { return std::ranges::find(labels, label) - labels.begin(); }

struct Term {
  Value value;
  Labels labels;
};

/// The equation, and its errors.
class Equation {
public:
  Equation(std::string_view text, const List &operands) : text_(text) {
    std::string plain;
    std::ranges::copy_if(text, std::back_inserter(plain), [](char c) { return c != ' '; });
    const size_t arrow = plain.find("->");
    std::string_view left = std::string_view(plain).substr(0, arrow);
    for (size_t number = 0; number < operands.size(); ++number) {
      const size_t comma = left.find(',');
      if ((comma == std::string_view::npos) != (number + 1 == operands.size()))
        refuse("{} operands, but the equation is for {}", operands.size(), std::ranges::count(left, ',') + number + 1);
      terms.push_back({operands[number], labelsOf(left.substr(0, comma), operands[number].rank(), number)});
      left.remove_prefix(std::min(left.size(), comma == std::string_view::npos ? left.size() : comma + 1));
    }
    for (const Term &term : terms)
      for (int label : term.labels)
        broadcast_ = std::max<int64_t>(broadcast_, -label);
    output = arrow == std::string::npos ? implicitOutput() : explicitOutput(std::string_view(plain).substr(arrow + 2));
    checkExtents();
  }

  std::vector<Term> terms;
  Labels output;

private:
  template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> reason, Args &&...args) const {
    throw Error(ErrorKind::value_error,
                fmt::format("einsum \"{}\": {}", text_, fmt::format(reason, std::forward<Args>(args)...)));
  }

  static void addBroadcast(Labels &labels, int64_t count) {
    for (int64_t left = count; left > 0; --left)
      labels.push_back(static_cast<int>(-left));
  }

  /// `broadcast` returns the number of axes of "...", given the number of letters in the term.
  Labels read(std::string_view term, const std::function<int64_t(int64_t letters)> &broadcast) const {
    Labels labels;
    const int64_t letters = std::ranges::count_if(term, [](unsigned char c) { return std::isalpha(c); });
    bool isBroadcast = false;
    for (size_t at = 0; at < term.size(); ++at) {
      if (std::isalpha(static_cast<unsigned char>(term[at]))) {
        labels.push_back(term[at]);
      } else if (term.substr(at, 3) == "..." && !isBroadcast) {
        isBroadcast = true;
        addBroadcast(labels, broadcast(letters));
        at += 2;
      } else {
        refuse("\"{}\" has \"{}\"; expected letters and at most one \"...\"", term, term.substr(at, 1));
      }
    }
    return labels;
  }

  Labels labelsOf(std::string_view term, int64_t rank, size_t number) const {
    Labels labels = read(term, [&](int64_t letters) { return std::max<int64_t>(rank - letters, 0); });
    if (static_cast<int64_t>(labels.size()) != rank)
      refuse("\"{}\" is for an operand of {} axes, but operand {} has {}", term, labels.size(), number, rank);
    return labels;
  }

  Labels explicitOutput(std::string_view term) const {
    Labels labels = read(term, [&](int64_t) { return broadcast_; });
    for (size_t at = 0; at < labels.size(); ++at) {
      const auto isThere = [&](const Term &each) { return contains(each.labels, labels[at]); };
      if (std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(at), labels[at]) !=
          labels.begin() + static_cast<std::ptrdiff_t>(at))
        refuse("label '{}' occurs twice in the output", static_cast<char>(labels[at]));
      if (std::ranges::none_of(terms, isThere))
        refuse("label '{}' of the output is in no operand", static_cast<char>(labels[at]));
    }
    return labels;
  }

  Labels implicitOutput() const {
    std::map<int, int> counts;
    for (const Term &term : terms)
      for (int label : term.labels)
        ++counts[label];
    Labels labels;
    addBroadcast(labels, broadcast_);
    for (const auto &[label, count] : counts)
      if (label > 0 && count == 1)
        labels.push_back(label);
    return labels;
  }

  void checkExtents() const {
    std::map<int, int64_t> extents;
    for (const Term &term : terms)
      for (size_t axis = 0; axis < term.labels.size(); ++axis) {
        const int label = term.labels[axis];
        const int64_t extent = term.value.shape()[static_cast<int64_t>(axis)];
        const auto [known, isNew] = extents.try_emplace(label, extent);
        if (isNew || known->second == extent || (label < 0 && extent == 1))
          continue;
        if (label > 0)
          refuse("label '{}' has extents {} and {}", static_cast<char>(label), known->second, extent);
        if (known->second != 1)
          refuse("\"...\" has extents {} and {}, which do not broadcast", known->second, extent);
        known->second = extent;
      }
  }

  std::string_view text_;
  int64_t broadcast_ = 0;
};

/// Transposes the term to the order of `labels`, a permutation of its own.
Value inOrder(const Term &term, const Labels &labels) {
  std::vector<int64_t> axes;
  for (int label : labels)
    axes.push_back(positionOf(term.labels, label));
  return std::ranges::is_sorted(axes) ? term.value : transpose(term.value, axes);
}

/// Takes the diagonal for a label that occurs twice: the two axes are merged, and every (extent + 1)-th element is
/// taken.
Term diagonal(Term term) {
  for (size_t second = 1; second < term.labels.size();) {
    const int label = term.labels[second];
    const size_t first = static_cast<size_t>(positionOf(term.labels, label));
    if (first == second) {
      ++second;
      continue;
    }
    std::vector<int64_t> axes{static_cast<int64_t>(first), static_cast<int64_t>(second)};
    Labels labels{label};
    for (size_t axis = 0; axis < term.labels.size(); ++axis)
      if (axis != first && axis != second) {
        axes.push_back(static_cast<int64_t>(axis));
        labels.push_back(term.labels[axis]);
      }
    const Value moved = transpose(term.value, axes);
    std::vector<int64_t> dims = moved.shape().dims();
    dims.erase(dims.begin());
    const int64_t extent = dims[0];
    dims[0] = extentProduct(extent, extent);
    const Value positions = arange(0, dims[0], extent + 1, indexDtype(dims[0]));
    term = {take(reshape(moved, Shape(dims)), positions, 0), labels};
    second = 1;
  }
  return term;
}

/// Sums the term over the axes whose labels `isNeeded` rejects.
Term summed(const Term &term, const std::function<bool(int)> &isNeeded) {
  std::vector<int64_t> axes;
  Term result{term.value, {}};
  for (size_t axis = 0; axis < term.labels.size(); ++axis)
    if (isNeeded(term.labels[axis]))
      result.labels.push_back(term.labels[axis]);
    else
      axes.push_back(static_cast<int64_t>(axis));
  if (!axes.empty())
    result.value = sum(asNumber(term.value), Axes(axes));
  return result;
}

/// Removes the axes of extent 1 along which the term broadcasts to `other`.
Term squeezed(const Term &term, const Term &other) {
  Term result{term.value, {}};
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < term.labels.size(); ++axis) {
    const int64_t extent = term.value.shape()[static_cast<int64_t>(axis)];
    const int64_t there = positionOf(other.labels, term.labels[axis]);
    if (extent == 1 && there < static_cast<int64_t>(other.labels.size()) && other.value.shape()[there] != 1)
      continue;
    dims.push_back(extent);
    result.labels.push_back(term.labels[axis]);
  }
  if (dims.size() != term.labels.size())
    result.value = reshape(term.value, Shape(dims));
  return result;
}

/// The outer or elementwise product: axes that a term lacks have extent 1. The axes of the result are in the order of
/// `wanted`.
Term multiplied(const Term &a, const Term &b, const Labels &wanted) {
  Labels labels;
  std::ranges::copy_if(wanted, std::back_inserter(labels),
                       [&](int label) { return contains(a.labels, label) || contains(b.labels, label); });
  const auto spread = [&](const Term &term) {
    Labels own;
    std::ranges::copy_if(labels, std::back_inserter(own), [&](int label) { return contains(term.labels, label); });
    const Value ordered = inOrder(term, own);
    std::vector<int64_t> dims;
    for (int label : labels)
      dims.push_back(contains(own, label) ? ordered.shape()[positionOf(own, label)] : 1);
    const Value value = reshape(ordered, Shape(dims));
    return value.dtype() == DType::int8 ? asDtype(value, DType::int32) : value;
  };
  return {multiply(spread(a), spread(b)), labels};
}

/// Contracts over the labels of both terms that are not `wanted`. `wanted` begins with the output: the term with the
/// last free label in it is the right operand.
Term contracted(const Term &a, const Term &b, const Labels &wanted) {
  const auto lastFree = [&](const Term &term, const Term &other) {
    int64_t last = -1;
    for (int label : term.labels)
      if (!contains(other.labels, label))
        last = std::max(last, positionOf(wanted, label));
    return last;
  };
  const bool isSwapped = lastFree(a, b) > lastFree(b, a);
  const Term &lhs = isSwapped ? b : a, &rhs = isSwapped ? a : b;
  Trace::ContractAxes axes;
  Labels labels;
  const auto pair = [&](int label, std::vector<int64_t> &left, std::vector<int64_t> &right) {
    left.push_back(positionOf(lhs.labels, label));
    right.push_back(positionOf(rhs.labels, label));
  };
  for (int label : wanted)
    if (contains(lhs.labels, label) && contains(rhs.labels, label)) {
      pair(label, axes.lhsBatch, axes.rhsBatch);
      labels.push_back(label);
    }
  for (int label : rhs.labels)
    if (contains(lhs.labels, label) && !contains(wanted, label))
      pair(label, axes.lhsContract, axes.rhsContract);
  for (const Term *term : {&lhs, &rhs})
    std::ranges::copy_if(term->labels, std::back_inserter(labels),
                         [&](int label) { return !contains((term == &lhs ? rhs : lhs).labels, label); });
  const DType dtype = promoted(lhs.value, rhs.value);
  return {contractOne(asDtype(lhs.value, dtype), asDtype(rhs.value, dtype), axes), labels};
}

/// The product of two terms, keeping the axes that are `wanted` in the output or in a later term.
Term combined(const Term &first, const Term &second, const Labels &wanted) {
  Term a = squeezed(first, second), b = squeezed(second, first);
  a = summed(a, [&](int label) { return contains(b.labels, label) || contains(wanted, label); });
  b = summed(b, [&](int label) { return contains(a.labels, label) || contains(wanted, label); });
  const bool sums =
      std::ranges::any_of(a.labels, [&](int label) { return contains(b.labels, label) && !contains(wanted, label); });
  return sums ? contracted(a, b, wanted) : multiplied(a, b, wanted);
}

} // namespace

Value einsum(std::string_view equation, const Values &operands) {
  if (operands.size() == 0)
    throw Error(ErrorKind::value_error, fmt::format("einsum \"{}\": expected one operand or more", equation));
  return applyOne(
      "einsum", List(operands.begin(), operands.end()),
      [text = std::string(equation)](const List &values) {
        const Equation parsed(text, values);
        DType dtype = values[0].dtype();
        for (const Value &value : values)
          dtype = value.dtype() == dtype ? dtype : result_type(dtype, value.dtype());
        Term result = diagonal(parsed.terms[0]);
        for (size_t next = 1; next < parsed.terms.size(); ++next) {
          Labels wanted = parsed.output;
          for (size_t later = next + 1; later < parsed.terms.size(); ++later)
            for (int label : parsed.terms[later].labels)
              if (!contains(wanted, label))
                wanted.push_back(label);
          result = combined(result, diagonal(parsed.terms[next]), wanted);
        }
        result = summed(result, [&](int label) { return contains(parsed.output, label); });
        return asDtype(inOrder(result, parsed.output), dtype == DType::int8 ? DType::int32 : dtype);
      },
      configForm("subscripts", std::string(equation)));
}

} // namespace halftone::ops
