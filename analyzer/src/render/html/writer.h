// HTML and SVG that are always well-formed and never take a name for markup.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::analyzer::html {

struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

/// Collects a document. Texts and values of attributes come out escaped and printable(), whatever a recording holds.
class Writer {
 public:
  /// Closes what it opened.
  class Scope {
   public:
    explicit Scope(Writer& writer) : writer_(writer) {}
    ~Scope() { writer_.close(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Writer& writer_;
  };

  [[nodiscard]] Scope scope(std::string_view tag, Attributes attributes = {});
  void element(std::string_view tag, std::string_view text, Attributes attributes = {});
  /// An element without content: meta, rect, line, ...
  void empty(std::string_view tag, Attributes attributes = {});
  void text(std::string_view text);
  /// Markup of ours, as it is: the style sheet, the script, sections that a Writer made.
  void trusted(std::string_view markup) { text_.append(markup); }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void start(std::string_view tag, Attributes attributes);
  void close();

  std::string text_;
  std::vector<std::string> open_;
};

/// At most two decimals, no needless zeros: coordinates.
[[nodiscard]] std::string number(double value);

}  // namespace rankscope::analyzer::html
