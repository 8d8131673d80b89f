// The compiled part of fmt, for halftone-verify: Debian has no static library of it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template void buffer<char>::append(const char *, const char *);
template void vformat_to(buffer<char> &, string_view, format_args, locale_ref);
template char decimal_point_impl(locale_ref);
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template std::locale locale_ref::get<std::locale>() const;
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
} // namespace detail
FMT_END_NAMESPACE
