#include "importers/shared/json_values.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t deepest = 64;

/// What the parser calls for each value. Returning false ends it.
class ValueHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ValueHandler(PlainValues& values) : values_(values) {}

  bool null() override { return add(PlainValues::none); }
  bool boolean(bool value) override { return add(value ? PlainValues::yes : PlainValues::no); }
  bool number_integer(number_integer_t value) override { return add(values_.integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(values_.integer(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(values_.real(value)); }
  bool string(string_t& value) override { return add(values_.text(values_.keep(std::move(value)))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(values_.map()); }
  bool key(string_t& value) override {
    const auto made = values_.text(values_.keep(std::move(value)));
    if (!made) return too_many();
    open_.back().items.push_back(*made);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(values_.list()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& why) override {
    error_at_ = position;
    at_end_ = token.empty() || std::string_view{why.what()}.find("unexpected end of input") != std::string_view::npos;
    return false;
  }

  [[nodiscard]] ValueRef root() const { return root_; }
  [[nodiscard]] Fault fault(std::size_t size) const {
    if (!refused_.empty()) return {FaultKind::refused, refused_};
    if (at_end_ || error_at_ >= size)
      return {FaultKind::cut, format("ends in the middle of the JSON (at byte {})", size)};
    return {FaultKind::damaged, format("is not valid JSON (at byte {})", error_at_)};
  }

 private:
  struct Open {
    ValueRef container;
    std::vector<ValueRef> items;
  };
  bool too_many() {
    refused_ = format("has more than {} values", PlainValues::most);
    return false;
  }
  bool add(std::optional<ValueRef> value) {
    if (!value) return too_many();
    if (open_.empty()) {
      root_ = *value;
    } else {
      open_.back().items.push_back(*value);
    }
    return true;
  }
  bool open(std::optional<ValueRef> container) {
    if (!container) return too_many();
    if (open_.size() >= deepest) {
      refused_ = format("nests values more than {} deep", deepest);
      return false;
    }
    open_.push_back({*container, {}});
    return true;
  }
  bool close() {
    const Open closed = std::move(open_.back());
    open_.pop_back();
    if (!values_.append(closed.container, closed.items)) return too_many();
    return add(closed.container);
  }

  PlainValues& values_;
  std::vector<Open> open_;
  ValueRef root_ = PlainValues::none;
  std::string refused_;
  std::size_t error_at_ = 0;
  bool at_end_ = false;
};

}  // namespace

tl::expected<ValueRef, Fault> read_json(std::string_view bytes, PlainValues& values) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return tl::make_unexpected(Fault{FaultKind::empty, bytes.empty() ? "is empty" : "contains only blanks"});
  ValueHandler handler{values};
  if (!nlohmann::json::sax_parse(bytes, &handler)) return tl::make_unexpected(handler.fault(bytes.size()));
  return handler.root();
}

}  // namespace rankscope::analyzer
