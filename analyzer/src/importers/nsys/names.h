// The texts of an export (StringIds), fetched when a row refers to them: one that no kept row names is never read, and
// so never reaches the Run.
#pragma once

#include <array>
#include <string>

#include "importers/nsys/database.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer::nsys {

class Names {
 public:
  [[nodiscard]] static Result<Names> of(const Database& database, RunBuilder& builder);

  /// The text of an id; valid until the next call. Nothing if the export lacks it.
  [[nodiscard]] std::optional<std::string_view> text(std::int64_t id);
  /// The same as a string of the Run; "[unknown]", counted, if the export lacks it.
  [[nodiscard]] StringId intern(std::optional<std::int64_t> id);
  [[nodiscard]] StringId intern(std::string_view text) { return builder_->intern(text); }

 private:
  Names(Rows by_id, RunBuilder& builder) : by_id_(std::move(by_id)), builder_(&builder) {}

  struct Slot {
    std::int64_t id = -1;
    StringId name{};
  };
  static constexpr std::size_t slots = 1 << 14;  // direct-mapped: millions of ids may each occur once
  Rows by_id_;
  RunBuilder* builder_;
  std::vector<Slot> cache_ = std::vector<Slot>(slots);
};

}  // namespace rankscope::analyzer::nsys
