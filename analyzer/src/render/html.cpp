// The report as one page: no network, nothing beside it, usable without a script.
#include <array>
#include <charconv>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/html/assets.h"
#include "render/html/sections.h"
#include "render/sentences.h"

namespace rankscope::analyzer {
namespace {

using html::Source;
using html::Writer;

struct PageSection {
  std::string_view id;
  std::string_view title;
  void (*write)(Writer& page, const Source& source);
};

// The order of the page.
constexpr std::array sections{
    PageSection{"verdict", "Verdict", html::write_verdict},
    PageSection{"findings", "Findings", html::write_findings},
    PageSection{"slow-ranks", "Slow ranks", html::write_slow_ranks},
    PageSection{"steps", "Steps", html::write_steps},
    PageSection{"ranks", "Where the time went", html::write_split},
    PageSection{"rank-steps", "Ranks and steps", html::write_heat_maps},
    PageSection{"idle", "Why nothing ran", html::write_idle_reasons},
    PageSection{"overlap", "Overlap", html::write_overlap},
    PageSection{"launches", "Launches", html::write_launches},
    PageSection{"kernels", "Kernels", html::write_kernels},
    PageSection{"operators", "Operators", html::write_operators},
    PageSection{"copies", "Copies", html::write_copies},
    PageSection{"collectives", "Collectives", html::write_collectives},
    PageSection{"hta", "HTA's numbers", html::write_hta},
    PageSection{"processes", "Ranks", html::write_ranks},
    PageSection{"data-quality", "Data quality", html::write_quality},
    PageSection{"missing", "Not available", html::write_missing},
    PageSection{"run", "About the run", html::write_about},
};

struct Written {
  const PageSection* section;
  std::string body;
};

/// A digest in the form that a content security policy wants.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char& digit : hex) {
    std::uint32_t value = 0;
    std::from_chars(&digit, &digit + 1, value, 16);
    bits = (bits << 4) | value;
    for (count += 4; count >= 6; count -= 6) text += digits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += digits[(bits << (6 - count)) & 63];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

/// Nothing is loaded, and no style or script runs but ours: a name that got through as markup would stay dead.
std::string policy() {
  return format("default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'",
                base64_of_hex(html::report_css().sha256), base64_of_hex(html::report_js().sha256));
}

std::string title_of(const Report& report) {
  return format("rankscope report: {}{}", ranks_text(report), report.steps ? steps_text(*report.steps) : "");
}

void write_head(Writer& page, const Report& report) {
  const auto head = page.scope("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.element("title", title_of(report));
  const auto style = page.scope("style");
  page.trusted(html::report_css().text);
}

void write_navigation(Writer& page, const std::vector<Written>& all) {
  const auto navigation = page.scope("nav", {{"aria-label", "Sections"}});
  const auto list = page.scope("ul");
  for (const auto& [section, body] : all) {
    const auto item = page.scope("li");
    page.element("a", section->title, {{"href", format("#{}", section->id)}});
  }
}

void write_section(Writer& page, const Written& written) {
  const std::string id{written.section->id};
  const auto section = page.scope("section", {{"id", id}, {"aria-labelledby", id + "-title"}});
  page.element("h2", written.section->title, {{"id", id + "-title"}});
  page.trusted(written.body);
}

void write_body(Writer& page, const Report& report, const std::vector<Written>& all) {
  const auto body = page.scope("body");
  page.element("a", "To the verdict", {{"class", "skip"}, {"href", "#verdict"}});
  {
    const auto header = page.scope("header");
    page.element("h1", "rankscope report");
    page.element("p", title_of(report).substr(std::string_view{"rankscope report: "}.size()), {{"class", "faint"}});
    write_navigation(page, all);
  }
  {
    const auto main = page.scope("main");
    for (const auto& written : all) write_section(page, written);
  }
  {
    const auto footer = page.scope("footer");
    page.element("p", "Made by rankscope from a recording; docs/metrics.md of rankscope defines every number.");
  }
  const auto script = page.scope("script");
  page.trusted(html::report_js().text);
}

}  // namespace

std::string render_html(const Report& report, const Run& run, const ReportOptions& options) {
  std::vector<Written> all;
  for (const PageSection& section : sections) {
    Writer body;
    section.write(body, {report, run, options});
    auto text = std::move(body).take();
    if (!text.empty()) all.push_back({&section, std::move(text)});
  }
  Writer page;
  page.trusted("<!DOCTYPE html>");
  {
    const auto document = page.scope("html", {{"lang", "en"}});
    write_head(page, report);
    write_body(page, report, all);
  }
  page.trusted("\n");
  return std::move(page).take();
}

}  // namespace rankscope::analyzer
