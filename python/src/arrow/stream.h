// A table as a stream of Arrow: one batch, whose buffers are the columns themselves.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/tables/column_data.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/python/arrow_abi.h"

namespace rankscope::python {

/// What the places of a dictionary column mean, as Arrow's large strings.
struct Dictionary {
  std::vector<std::int64_t> offsets{0};
  std::string characters;
  void add(std::string_view text);
};

/// Columns that streams share; never changed.
struct ArrowTable {
  analyzer::TableData data;
  std::vector<Dictionary> dictionaries;  ///< parallel to the columns; empty ones of columns that have none
};

[[nodiscard]] std::shared_ptr<const ArrowTable> arrow_table(analyzer::TableData data, const Run& run);

/// Fills `stream`; its consumer releases it. The columns live as long as any array of it.
void make_stream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream& stream);

}  // namespace rankscope::python
