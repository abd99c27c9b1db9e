#include "importers/nsys/names.h"

namespace rankscope::analyzer::nsys {

Result<Names> Names::of(const Database& database, RunBuilder& builder) {
  constexpr std::array<std::string_view, 1> columns{"value"};
  if (!database.has("StringIds", "id") || !database.has("StringIds", "value"))
    return fail(
        ErrorKind::unreadable,
        database.path().string() + ": its table StringIds has no columns id and value; export the report again");
  RS_TRY(Rows rows, database.rows("StringIds", columns, "WHERE id = ?1"));
  return Names{std::move(rows), builder};
}

std::optional<std::string_view> Names::text(std::int64_t id) {
  by_id_.restart(id);
  if (!by_id_.next() || by_id_.is_null(0)) return std::nullopt;
  return by_id_.text(0);
}

StringId Names::intern(std::optional<std::int64_t> id) {
  if (!id) {
    builder_->quality().add(Counter::names_lost);
    return builder_->intern("[unknown]");
  }
  Slot& slot = cache_[static_cast<std::size_t>(*id) % slots];
  if (slot.id == *id && slot.name.is_set()) return slot.name;
  const auto found = text(*id);
  if (!found) builder_->quality().add(Counter::names_lost);
  slot = {*id, builder_->intern(found.value_or("[unknown]"))};
  return slot.name;
}

}  // namespace rankscope::analyzer::nsys
