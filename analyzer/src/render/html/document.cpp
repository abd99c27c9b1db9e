#include "render/html/document.h"

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "render/html/assets.h"
#include "render/html/writer.h"

namespace rankscope::analyzer::html {
namespace {

/// A digest in the form that a content security policy wants.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char& digit : hex) {
    bits = (bits << 4) | static_cast<std::uint32_t>(hex_number_from({&digit, 1}).value_or(0));
    for (count += 4; count >= 6; count -= 6) text += digits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += digits[(bits << (6 - count)) & 63];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

/// Nothing is loaded, and no style or script runs but ours: a name that got through as markup would stay dead.
std::string policy() {
  return format("default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'",
                base64_of_hex(report_css().sha256), base64_of_hex(report_js().sha256));
}

void write_head(Writer& page, const DocumentTitle& title) {
  const auto head = page.scope("head");
  page.empty("meta", {{"charset", "utf-8"}});
  page.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  page.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  page.empty("link", {{"rel", "icon"}, {"href", "data:,"}});
  page.element("title", format("{}: {}{}{}", title.kind, title.run, title.run.empty() ? "" : " · ", title.about));
  const auto style = page.scope("style");
  page.trusted(report_css().text);
}

void write_navigation(Writer& page, std::span<const DocumentSection> all) {
  const auto navigation = page.scope("nav", {{"aria-label", "Sections"}});
  const auto list = page.scope("ul");
  for (const DocumentSection& section : all) {
    const auto item = page.scope("li");
    page.element("a", section.title, {{"href", format("#{}", section.id)}});
  }
}

void write_section(Writer& page, const DocumentSection& written) {
  const std::string id{written.id};
  const auto section = page.scope("section", {{"id", id}, {"aria-labelledby", id + "-title"}});
  page.element("h2", written.title, {{"id", id + "-title"}});
  page.trusted(written.body);
}

void write_body(Writer& page, const DocumentTitle& title, std::span<const DocumentSection> all) {
  const auto body = page.scope("body");
  if (!all.empty())  // the verdict, unless only other sections were asked for
    page.element("a", format("Skip to: {}", all.front().title),
                 {{"class", "skip"}, {"href", format("#{}", all.front().id)}});
  {
    const auto header = page.scope("header");
    page.element("h1", title.kind);
    if (!title.run.empty()) page.element("p", title.run, {{"class", "run"}});
    page.element("p", title.about, {{"class", "faint"}});
    if (!title.command.empty()) page.element("p", title.command, {{"class", "command"}});
    write_navigation(page, all);
  }
  {
    const auto main = page.scope("main");
    for (const auto& written : all) write_section(page, written);
  }
  {
    const auto footer = page.scope("footer");
    page.element("p", "Made by rankscope. The numbers are defined in docs/metrics.md in rankscope's source tree.");
  }
  const auto script = page.scope("script");
  page.trusted(report_js().text);
}

}  // namespace

std::string document(const DocumentTitle& title, std::span<const DocumentSection> sections) {
  Writer page;
  page.trusted("<!DOCTYPE html>");
  {
    const auto whole = page.scope("html", {{"lang", "en"}});
    write_head(page, title);
    write_body(page, title, sections);
  }
  page.trusted("\n");
  return std::move(page).take();
}

}  // namespace rankscope::analyzer::html
