#include "arrow/stream.h"

#include <array>
#include <cerrno>
#include <unordered_map>

#include "rankscope/core/model/run.h"
#include "rankscope/core/printable.h"

namespace rankscope::python {
namespace {

using analyzer::ColumnData;
using analyzer::ColumnType;

bool has_dictionary(const ColumnData& column) {
  const ColumnType type = column.description().type;
  return type == ColumnType::word || type == ColumnType::string;
}

const char* format_of(const ColumnData& column) {
  switch (column.description().type) {
    case ColumnType::whole:
      return "l";
    case ColumnType::small:
    case ColumnType::word:
    case ColumnType::string:
      return "i";
    case ColumnType::flag:
      return "b";
    case ColumnType::number:
      return "g";
    case ColumnType::text:
      return "U";
  }
  return "";
}

/// What a schema points to; freed with it.
struct HeldSchema {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  for (std::int64_t i = 0; i < schema->n_children; ++i)
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr)
    schema->dictionary->release(schema->dictionary);
  delete static_cast<HeldSchema*>(schema->private_data);
  schema->release = nullptr;
}

ArrowSchema new_schema(const char* format, std::string_view name, bool nullable) {
  auto* const held = new HeldSchema{.name = std::string{name}, .children = {}, .pointers = {}};
  ArrowSchema schema{};
  schema.format = format;
  schema.name = held->name.c_str();
  schema.flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  schema.release = release_schema;
  schema.private_data = held;
  return schema;
}

ArrowSchema schema_of(const ColumnData& column) {
  const auto& description = column.description();
  ArrowSchema schema =
      new_schema(format_of(column), description.arrow_name(), description.nulls == analyzer::Nulls::possible);
  if (has_dictionary(column)) {
    auto& held = *static_cast<HeldSchema*>(schema.private_data);
    held.dictionary = new_schema("U", "", false);
    schema.dictionary = &held.dictionary;
  }
  return schema;
}

ArrowSchema schema_of(const ArrowTable& table) {
  ArrowSchema schema = new_schema("+s", "", false);
  auto& held = *static_cast<HeldSchema*>(schema.private_data);
  for (const ColumnData& column : table.data.columns) held.children.push_back(schema_of(column));
  for (ArrowSchema& child : held.children) held.pointers.push_back(&child);
  schema.n_children = static_cast<std::int64_t>(held.pointers.size());
  schema.children = held.pointers.data();
  return schema;
}

/// What an array points to; freed with it.
struct HeldArray {
  std::shared_ptr<const ArrowTable> table;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  for (std::int64_t i = 0; i < array->n_children; ++i)
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  if (array->dictionary != nullptr && array->dictionary->release != nullptr)
    array->dictionary->release(array->dictionary);
  delete static_cast<HeldArray*>(array->private_data);
  array->release = nullptr;
}

ArrowArray new_array(const std::shared_ptr<const ArrowTable>& table, std::vector<const void*> buffers,
                     std::size_t length, std::size_t missing) {
  auto* const held = new HeldArray{.table = table, .buffers = std::move(buffers), .children = {}, .pointers = {}};
  ArrowArray array{};
  array.length = static_cast<std::int64_t>(length);
  array.null_count = static_cast<std::int64_t>(missing);
  array.n_buffers = static_cast<std::int64_t>(held->buffers.size());
  array.buffers = held->buffers.data();
  array.release = release_array;
  array.private_data = held;
  return array;
}

/// Consumers want an address for what has no bytes, too.
template <class Buffer>
const void* address_of(const Buffer& buffer) {
  alignas(64) static constexpr std::array<char, 64> nothing{};
  return buffer.empty() ? static_cast<const void*>(nothing.data()) : static_cast<const void*>(buffer.data());
}

std::vector<const void*> buffers_of(const ColumnData& column) {
  const void* const valid = column.valid().empty() ? nullptr : column.valid().data();
  switch (column.description().type) {
    case ColumnType::whole:
      return {valid, address_of(column.whole())};
    case ColumnType::small:
    case ColumnType::word:
    case ColumnType::string:
      return {valid, address_of(column.small())};
    case ColumnType::flag:
      return {valid, address_of(column.flags())};
    case ColumnType::number:
      return {valid, address_of(column.numbers())};
    case ColumnType::text:
      return {valid, address_of(column.offsets()), address_of(column.characters())};
  }
  return {};
}

ArrowArray array_of(const std::shared_ptr<const ArrowTable>& table, std::size_t place) {
  const ColumnData& column = table->data.columns[place];
  ArrowArray array = new_array(table, buffers_of(column), column.rows(), column.missing());
  if (has_dictionary(column)) {
    auto& held = *static_cast<HeldArray*>(array.private_data);
    const Dictionary& words = table->dictionaries[place];
    held.dictionary = new_array(table, {nullptr, address_of(words.offsets), address_of(words.characters)},
                                words.offsets.size() - 1, 0);
    array.dictionary = &held.dictionary;
  }
  return array;
}

ArrowArray array_of(const std::shared_ptr<const ArrowTable>& table) {
  ArrowArray array = new_array(table, {nullptr}, table->data.rows(), 0);
  auto& held = *static_cast<HeldArray*>(array.private_data);
  for (std::size_t place = 0; place < table->data.columns.size(); ++place)
    held.children.push_back(array_of(table, place));
  for (ArrowArray& child : held.children) held.pointers.push_back(&child);
  array.n_children = static_cast<std::int64_t>(held.pointers.size());
  array.children = held.pointers.data();
  return array;
}

struct HeldStream {
  std::shared_ptr<const ArrowTable> table;
  bool given = false;
  bool failed = false;
};

/// Strings that differ only in bytes that are no UTF-8 become one: a dictionary has each value once.
void add_strings(Dictionary& words, ColumnData& column, const Run& run) {
  std::unordered_map<std::string, std::int32_t> known;
  std::vector<std::int32_t> places;
  places.reserve(column.strings().size());
  for (const StringId string : column.strings()) {
    std::string text = valid_utf8(run.text(string));
    const auto [entry, added] = known.try_emplace(std::move(text), static_cast<std::int32_t>(known.size()));
    places.push_back(entry->second);
    if (added) words.add(entry->first);
  }
  if (known.size() < places.size()) column.replace_places(places);
}

HeldStream& held_by(ArrowArrayStream* stream) { return *static_cast<HeldStream*>(stream->private_data); }

/// Consumers are written in C: an error is a number there.
template <class Work>
int without_exceptions(ArrowArrayStream& stream, Work work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {  // only memory can be missing
    held_by(&stream).failed = true;
    return ENOMEM;
  }
}

}  // namespace

void Dictionary::add(std::string_view text) {
  characters += text;
  offsets.push_back(static_cast<std::int64_t>(characters.size()));
}

std::shared_ptr<const ArrowTable> arrow_table(analyzer::TableData data, const Run& run) {
  auto table = std::make_shared<ArrowTable>();
  for (ColumnData& column : data.columns) {
    Dictionary& words = table->dictionaries.emplace_back();
    for (const std::string_view word : column.words()) words.add(valid_utf8(word));
    add_strings(words, column, run);
  }
  table->data = std::move(data);
  return table;
}

void make_stream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream& stream) {
  stream.private_data = new HeldStream{.table = std::move(table)};
  stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    return without_exceptions(*self, [&] { *out = schema_of(*held_by(self).table); });
  };
  stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
    return without_exceptions(*self, [&] {
      HeldStream& held = held_by(self);
      *out = held.given ? ArrowArray{} : array_of(held.table);
      held.given = true;
    });
  };
  stream.get_last_error = [](ArrowArrayStream* self) -> const char* {
    return held_by(self).failed ? "there is not enough memory" : nullptr;
  };
  stream.release = [](ArrowArrayStream* self) {
    delete &held_by(self);
    self->release = nullptr;
  };
}

}  // namespace rankscope::python
