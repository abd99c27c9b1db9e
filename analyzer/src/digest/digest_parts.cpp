// THE table of the parts of a digest: one row for each subject that has a local half.
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "digest/rank_digest.h"
#include "rankscope/core/format.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {
namespace {

/// Numbers of parts in files: append only.
enum class PartNumber : std::uint16_t {
  steps = 1,
  device_record = 2,
  kernels = 3,
  copies = 4,
  data_loading = 5,
  launches = 6
};

/// How a part is stored. A version that changes what the bytes mean is a new version; `read` is given the bytes of the
/// version of the row only, until an older one is kept readable.
struct PartRow {
  PartNumber number;
  std::uint16_t version;
  std::string_view name;
  bool required;  ///< every digest has it, and nothing can be told of a rank without it
  void (*write)(const RankDigest& rank, digest::PartWriter& out);
  void (*read)(digest::PartReader& in, RankDigest& rank);
};

TimeCells cells_of(const RankDigest& rank) { return {rank.steps.recorded, rank.steps.windows}; }

// Parts after the steps may need the cells that these cut the time into.
constexpr std::array part_rows{
    PartRow{.number = PartNumber::steps,
            .version = 1,
            .name = "steps",
            .required = true,
            .write = [](const RankDigest& rank, digest::PartWriter& out) { write_part(out, rank.steps); },
            .read = [](digest::PartReader& in, RankDigest& rank) { rank.steps = read_steps_part(in, rank.rank); }},
    PartRow{.number = PartNumber::device_record,
            .version = 1,
            .name = "device_record",
            .required = true,
            .write = [](const RankDigest& rank, digest::PartWriter& out) { write_part(out, rank.device_record); },
            .read = [](digest::PartReader& in, RankDigest& rank) { rank.device_record = read_device_record_part(in); }},
    PartRow{
        .number = PartNumber::kernels,
        .version = 1,
        .name = "kernels",
        .required = false,
        .write =
            [](const RankDigest& rank, digest::PartWriter& out) {
              if (rank.kernels) write_part(out, *rank.kernels);
            },
        .read = [](digest::PartReader& in, RankDigest& rank) { rank.kernels = read_kernels_part(in, cells_of(rank)); }},
    PartRow{
        .number = PartNumber::copies,
        .version = 1,
        .name = "copies",
        .required = false,
        .write =
            [](const RankDigest& rank, digest::PartWriter& out) {
              if (rank.copies) write_part(out, *rank.copies);
            },
        .read = [](digest::PartReader& in, RankDigest& rank) { rank.copies = read_copies_part(in, cells_of(rank)); }},
    PartRow{.number = PartNumber::data_loading,
            .version = 1,
            .name = "data_loading",
            .required = false,
            .write =
                [](const RankDigest& rank, digest::PartWriter& out) {
                  if (rank.data_loading) write_part(out, *rank.data_loading);
                },
            .read = [](digest::PartReader& in, RankDigest& rank) { rank.data_loading = read_data_loading_part(in); }},
    PartRow{.number = PartNumber::launches,
            .version = 1,
            .name = "launches",
            .required = false,
            .write =
                [](const RankDigest& rank, digest::PartWriter& out) {
                  if (rank.launches) write_part(out, *rank.launches);
                },
            .read = [](digest::PartReader& in,
                       RankDigest& rank) { rank.launches = read_launches_part(in, cells_of(rank)); }},
};

using Blocks = std::map<std::uint16_t, digest::Block>;  // of one rank, by part

/// Reads one part of a rank. A newer version of a part that not every digest has is left out.
Result<void> read_part(const PartRow& row, const Blocks& blocks, RankDigest& rank) {
  const auto found = blocks.find(static_cast<std::uint16_t>(row.number));
  const bool known = found != blocks.end() && found->second.version == row.version;
  if (!known && !row.required) return {};
  if (!known)
    return fail(ErrorKind::unreadable,
                format("its part {} of rank {} {}", row.name, rank.rank.value,
                       found == blocks.end() ? "is missing; write the digest again"
                                             : "was written by another version of rankscope; update rankscope, or "
                                               "write the digest again"));
  digest::PartReader in{found->second.bytes};
  row.read(in, rank);
  return in.end().map_error(
      while_doing(format("its part {} of rank {} is damaged (write the digest again)", row.name, rank.rank.value)));
}

}  // namespace

void write_digest(const RankDigest& rank, digest::DigestWriter& out) {
  for (const PartRow& row : part_rows) {
    digest::PartWriter part;
    row.write(rank, part);
    if (!part.bytes().empty()) out.add({static_cast<std::uint16_t>(row.number), row.version, rank.rank, part.bytes()});
  }
}

Result<std::vector<RankDigest>> read_digests(const digest::DigestFile& file) {
  std::map<RankId, Blocks> by_rank;
  for (const digest::Block& block : file.blocks) by_rank[block.rank].emplace(block.part, block);
  std::vector<RankDigest> ranks;
  for (const auto& [rank, blocks] : by_rank) {
    RankDigest& made = ranks.emplace_back();
    made.rank = rank;
    for (const PartRow& row : part_rows) RS_TRY_VOID(read_part(row, blocks, made));
  }
  return ranks;
}

}  // namespace rankscope::analyzer
