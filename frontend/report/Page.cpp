// Writes the page: a self-contained file without external references.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/Page.h"
#include "frontend/report/Markup.h"
#include "frontend/report/PlotSvg.h"
#include <fmt/format.h>
#include <string_view>

namespace halftone::detail {

namespace {

constexpr std::string_view pageStyle =
    R"(:root{--paper:#fff;--ink:#1d2129;--faint:#667085;--line:#e3e6ec;--soft:#f6f7fa;--accent:#3d6fd6;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--paper:#14171c;--ink:#e6e8ec;--faint:#98a2b3;--line:#2b313b;--soft:#1b1f26;--accent:#7ea6ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:1180px;margin:0 auto;padding:40px 28px 80px}
h1{font-size:30px;line-height:1.2;margin:0;letter-spacing:-.015em;overflow-wrap:anywhere}
.subtitle,.lead,.absent{color:var(--faint);margin:6px 0 0}
.numbers{display:flex;flex-wrap:wrap;gap:1px;margin:26px 0 0;padding:0;background:var(--line);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.numbers div{background:var(--paper);padding:12px 16px;flex:1 1 auto;min-width:148px}
.numbers dt{color:var(--faint);font-size:12.5px}
.numbers dd{margin:1px 0 0;font-size:16.5px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
nav{margin:22px 0 0;display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
section{margin-top:34px;border-top:1px solid var(--line);padding-top:22px}
summary{cursor:pointer;list-style-position:outside}summary h2{display:inline;font-size:19px;margin:0;letter-spacing:-.01em}
details details{margin-top:14px}details details summary{color:var(--faint)}
.lead{margin-bottom:14px;max-width:80ch}
.wide,.picture{overflow:auto;max-height:78vh;border:1px solid var(--line);border-radius:10px;margin-top:12px}
.picture{padding:14px;text-align:center}.picture svg{display:inline-block}
.charts{display:flex;flex-wrap:wrap;gap:12px 24px;margin-top:12px}svg.chart{max-width:100%;height:auto}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th{position:sticky;top:0;background:var(--soft);text-align:left;padding:0;white-space:nowrap;z-index:1}
th button{all:unset;box-sizing:border-box;width:100%;padding:8px 12px;cursor:pointer;color:var(--faint);font-weight:600;font-size:12.5px}
th.number button{text-align:right}th button:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
th[aria-sort=ascending] button::after{content:" ↑"}th[aria-sort=descending] button::after{content:" ↓"}
td{padding:6px 12px;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}td code{overflow-wrap:anywhere}
td.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tbody tr:hover{background:var(--soft)}
code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.share{display:inline-block;width:92px;height:8px;border-radius:4px;background:var(--line);margin-right:9px;overflow:hidden;vertical-align:1px}
.share i{display:block;height:100%;background:var(--accent);border-radius:4px}
.keys{margin:12px 0 0;padding-left:20px}.faint{color:var(--faint)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0;color:var(--faint);font-size:13px}
.legend svg{width:12px;height:12px;vertical-align:-1px;margin-right:6px}
footer{margin-top:48px;color:var(--faint);font-size:13px}
@media print{.wide,.picture{max-height:none}}
)";

// Sorts the rows of a table by the clicked column: first ascending, then descending.
constexpr std::string_view pageScript = R"(document.querySelectorAll("th button").forEach(function (button) {
  button.addEventListener("click", function () {
    var th = button.parentNode, heads = Array.from(th.parentNode.children), at = heads.indexOf(th);
    var up = th.getAttribute("aria-sort") !== "ascending", isNumber = th.classList.contains("number");
    var body = th.closest("table").tBodies[0];
    var keyed = Array.from(body.rows, function (row) {
      var cell = row.cells[at], key = cell.dataset.key === undefined ? cell.textContent : cell.dataset.key;
      return [isNumber ? Number(key) : key, row];
    });
    keyed.sort(function (a, b) {
      var order = isNumber ? a[0] - b[0] : a[0].localeCompare(b[0], undefined, {numeric: true});
      return up ? order : -order;
    });
    heads.forEach(function (head) { head.removeAttribute("aria-sort"); });
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append.apply(body, keyed.map(function (pair) { return pair[1]; }));
  });
});
)";

} // namespace

std::string Page::html() const {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
      "href=\"data:,\"/>\n<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{0}</"
      "h1>\n"
      "<p class=\"subtitle\">{3}</p>\n<dl class=\"numbers\">\n",
      escaped(title), pictureStyle, pageStyle, escaped(subtitle));
  for (const auto &[label, value] : numbers)
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(label), escaped(value));
  html += "</dl>\n<nav>";
  for (const Section &section : sections)
    html += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, section.title);
  html += "</nav>\n</header>\n";
  for (const Section &section : sections)
    html += fmt::format("<section id=\"{}\">\n<details open=\"open\"><summary><h2>{}</h2></summary>\n<p "
                        "class=\"lead\">{}</p>\n{}</details>\n</section>\n",
                        section.id, section.title, section.lead, section.body);
  return html +
         fmt::format("<footer>Written by Halftone.</footer>\n</main>\n<script>\n//<![CDATA[\n{}//]]>\n</script>\n"
                     "</body>\n</html>\n",
                     pageScript);
}

} // namespace halftone::detail
