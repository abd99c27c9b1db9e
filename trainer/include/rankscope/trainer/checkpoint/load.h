// Reading a checkpoint back, also with another number of ranks than it was saved with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/manifest.h"

namespace rankscope::trainer {

/// Steps of which a folder holds a whole checkpoint, ascending; whether they are sound is not looked into.
[[nodiscard]] std::vector<std::int64_t> saved_steps(const std::filesystem::path& folder);

/// An open checkpoint. As long as it is open, no saving removes it.
class Checkpoint {
 public:
  /// The one that `latest` names, or that of `step`. Refuses (unreadable) a damaged manifest, a newer format, and files
  /// that are missing or have another size than the manifest says.
  [[nodiscard]] static Result<Checkpoint> open(const std::filesystem::path& folder,
                                               std::optional<std::int64_t> step = std::nullopt);
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  [[nodiscard]] const CheckpointManifest& manifest() const;
  [[nodiscard]] const std::string& path() const;  ///< for errors

  /// Bytes of elements [begin, end) of a tensor, put together from whatever files hold them. The first time that a file
  /// is needed, all of it is compared with its checksum (unreadable). Elements that no file holds, unknown tensors and
  /// parts of another split are not_computable.
  [[nodiscard]] Result<std::vector<std::byte>> read(const std::string& tensor, ElementRange range);

  /// Compares all files with their checksums.
  [[nodiscard]] Result<void> verify();

 private:
  struct Impl;
  explicit Checkpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Whether the tensors that are expected are all of the model, or those of one rank of it.
enum class Expected : std::uint8_t { all_tensors, some_tensors };

/// Refuses (usage) a checkpoint of another model, naming the first option or tensor that differs, or of another
/// optimizer.
[[nodiscard]] Result<void> check_fits(const Checkpoint& checkpoint, const NamedOptions& model,
                                      const std::string& optimizer, std::span<const TensorInfo> tensors,
                                      Expected expected = Expected::some_tensors);

}  // namespace rankscope::trainer
