// What a trace file says of itself outside of its events, wherever in the file it stands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "importers/kineto/own_block.h"
#include "importers/kineto/scanner.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer::kineto {

/// A process group of "distributedInfo".
struct GroupConfig {
  std::string name;
  std::vector<std::uint32_t> ranks;
};

struct Metadata {
  std::optional<std::int64_t> base_ns;  ///< Unix time of ts 0
  std::optional<std::int64_t> rank;
  std::int64_t world_size = 0;
  std::vector<GroupConfig> groups;
  std::vector<Facts> devices;  ///< by ordinal
  std::string host;
  std::string trace_name;
  Facts facts;
  std::optional<OwnBlock> own;
  std::vector<QualityPlace> dropped;  ///< blocks that whoever reads the report should know of; `where` is their name

  /// Takes one member of the top-level object; what is no part of the format is counted and dropped.
  void take(std::string_view key, const Value& value, Quality& quality);
  void drop(QualityPlace block, Quality& quality);
  /// Joins what another stretch of the same file holds.
  void merge(Metadata&& other);
};

/// Walks over an object or list; values that are no JSON are absent.
void for_each_member(std::string_view object, const std::function<void(std::string_view key, const Value&)>& visit);
void for_each_item(std::string_view list, const std::function<void(const Value&)>& visit);

/// The text of a text, number, list or object.
[[nodiscard]] std::string text_from(const Value& value);
/// The items of a list as texts.
[[nodiscard]] std::vector<std::string> texts_from(std::string_view list);

}  // namespace rankscope::analyzer::kineto
