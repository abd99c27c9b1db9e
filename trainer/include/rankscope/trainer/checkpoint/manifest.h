// manifest.json of a checkpoint: what the training was and which file holds which elements of which tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/share.h"
#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

inline constexpr std::int64_t checkpoint_format = 1;

/// Options of a model or an optimizer by name: {"kind", "gpt"}, {"hidden", "128"}, ...
using NamedOptions = std::map<std::string, std::string>;

/// How the training was spread over ranks.
struct ModeSizes {
  std::string mode;     ///< "ddp", "pp", ...
  std::int64_t dp = 1;  ///< data-parallel replicas
  std::int64_t tp = 1;  ///< ranks that share a layer
  std::int64_t pp = 1;  ///< pipeline stages
  bool operator==(const ModeSizes&) const = default;
};

/// Where the next sample comes from, whatever the number of ranks.
struct DataCursor {
  std::int64_t epoch = 0;
  std::int64_t samples = 0;  ///< of that epoch that all ranks together have taken
  bool operator==(const DataCursor&) const = default;
};

/// Facts about the training at the moment of saving; equal on all ranks.
struct TrainingFacts {
  std::int64_t step = 0;  ///< steps that are done
  std::int64_t world_size = 1;
  ModeSizes sizes;
  std::uint64_t seed = 0;
  std::int64_t global_batch = 1;
  NamedOptions model;
  std::string optimizer;             ///< kind: "sgd", "adamw"
  std::int64_t optimizer_steps = 0;  ///< updates it has made
  DataCursor cursor;

  bool operator==(const TrainingFacts&) const = default;
};

/// A file of a checkpoint, as it was when it was saved: a reader refuses another one.
struct CheckpointFile {
  std::string name;  ///< within the checkpoint's folder
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< of all its bytes
  std::vector<TensorRange> ranges{};

  bool operator==(const CheckpointFile&) const = default;
};

/// What a checkpoint holds and where; without it a folder is no checkpoint.
struct CheckpointManifest {
  std::string created_by;  ///< "rankscope 0.1.0"
  TrainingFacts facts;
  std::vector<TensorInfo> tensors{};
  std::vector<CheckpointFile> files{};

  bool operator==(const CheckpointManifest&) const = default;
};

/// Equal for equal options; 8 hexadecimal digits.
[[nodiscard]] std::string fingerprint_of(const NamedOptions& options);

/// Name of a range in its file: the tensor's own if it is all of it, else "name[begin:end]", whose shape is flat.
[[nodiscard]] std::string name_in_file(const TensorInfo& tensor, ElementRange range);

/// One line for each tensor and file; "checksum" is the CRC-32 of all other fields, written compactly in the order of
/// their names. Texts must be UTF-8.
[[nodiscard]] std::string manifest_text(const CheckpointManifest& manifest);

/// Refuses (unreadable) a newer format, a wrong checksum, missing fields, unknown tensors, ranges outside of their
/// tensor and elements that stand in two places. `path` begins the error.
[[nodiscard]] Result<CheckpointManifest> parse_manifest(std::string_view text, const std::string& path);

/// Refuses tensors of which elements are in no file.
[[nodiscard]] Result<void> check_complete(const CheckpointManifest& manifest);

}  // namespace rankscope::trainer
