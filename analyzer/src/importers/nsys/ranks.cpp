#include "importers/nsys/ranks.h"

#include <algorithm>
#include <array>
#include <set>

#include "importers/shared/rank_claims.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr std::string_view by_option = "--rank-map";

/// A process that may be a rank.
struct Candidate {
  std::size_t file = 0;
  ProcessKey process{};
  std::optional<std::int64_t> rank{};
  std::string_view source{};
};

constexpr Bounds<std::int64_t> rank_bounds{.least = 0, .most = most_ranks - 1};

/// Processes that use devices; in a recording without any, those that call CUDA or NVTX; else all.
std::vector<ProcessKey> candidates_of(const Census& census) {
  std::vector<ProcessKey> found;
  for (const auto& [key, seen] : census.processes)
    if (seen.uses_devices()) found.push_back(key);
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    if (!found.empty()) return found;
    for (const auto& [key, seen] : census.processes)
      if (seen.tables.contains(std::string{table})) found.push_back(key);
  }
  if (!found.empty()) return found;
  for (const auto& [key, seen] : census.processes) found.push_back(key);
  return found;
}

/// NAME=number in the texts that hold an environment. Nothing else of them is looked at or kept.
class Environment {
 public:
  explicit Environment(const Database& database) : database_(database) {}

  [[nodiscard]] std::optional<std::int64_t> number(std::span<const std::string_view> names) const {
    for (const std::string_view name : names)
      for (const std::string_view table : {"META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV"})
        if (const auto value = in_table(table, name)) return value;
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> in_table(std::string_view table, std::string_view name) const {
    constexpr std::array<std::string_view, 2> columns{"name", "value"};
    if (!database_.has(table)) return std::nullopt;
    auto rows = database_.rows(table, columns);
    while (rows && rows->next()) {
      const std::string_view row = rows->text(0);
      if (row != "DeviceEnvironment" && row.find("ENVIRONMENT_VARIABLE") == std::string_view::npos) continue;
      if (const auto value = in_text(rows->text(1), name)) return value;
    }
    return std::nullopt;
  }

  static std::optional<std::int64_t> in_text(std::string_view text, std::string_view name) {
    const std::string wanted = std::string{name} + "=";
    for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
      const bool whole = at == 0 || std::string_view{"\n;,\" \t"}.find(text[at - 1]) != std::string_view::npos;
      if (whole) return leading_number(text.substr(at + wanted.size()), rank_bounds);
    }
    return std::nullopt;
  }

  const Database& database_;
};

class Assigning {
 public:
  Assigning(std::span<const FileFacts> files, const ImportOptions& options) : files_(files), options_(options) {
    for (std::size_t file = 0; file < files.size(); ++file) {
      const std::vector<ProcessKey> own = candidates_of(files[file].census);
      for (const ProcessKey process : own) all_.push_back({.file = file, .process = process, .rank = {}, .source = {}});
      per_file_.push_back(own.size());
    }
  }

  Result<RankPlan> plan() {
    RS_TRY_VOID(name_inputs());
    RS_TRY_VOID(by_map());
    by_communicator();
    RS_TRY_VOID(by_mpi());
    by_environment();
    by_file_name();
    by_device();
    alone();
    RS_TRY_VOID(check());
    return result();
  }

 private:
  [[nodiscard]] bool single(const Candidate& candidate) const { return per_file_[candidate.file] == 1; }
  static void set(Candidate& candidate, std::optional<std::int64_t> rank, std::string_view source) {
    if (candidate.rank || !rank) return;
    candidate.rank = rank;
    candidate.source = source;
  }
  /// Files have thousands of processes at most, but nobody is bound to that.
  Candidate* find(std::size_t file, ProcessKey process) {
    const auto key = [](const Candidate& candidate) { return std::pair{candidate.file, candidate.process}; };
    const auto found = std::ranges::lower_bound(all_, std::pair{file, process}, {}, key);
    return found != all_.end() && key(*found) == std::pair{file, process} ? &*found : nullptr;
  }
  void set_each(auto&& rank_of, std::string_view source) {
    for (Candidate& candidate : all_)
      if (!candidate.rank) set(candidate, rank_of(candidate), source);
  }

  Result<void> name_inputs();
  Result<void> by_map();
  void by_communicator();
  Result<void> by_mpi();
  void by_environment();
  void by_file_name();
  void by_device();
  void alone();
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] RankPlan result() const;

  std::span<const FileFacts> files_;
  const ImportOptions& options_;
  std::vector<Candidate> all_;  // by file and process
  std::vector<std::size_t> per_file_;
  std::vector<RankInput> inputs_;  // parallel to all_
  std::int64_t world_size_ = 0;
  std::uint64_t guessed_ = 0;
};

Result<void> Assigning::name_inputs() {
  std::vector<std::map<ProcessKey, std::string>> programs;
  for (const FileFacts& file : files_) {
    RS_TRY(auto own, read_programs(file.database));
    programs.push_back(std::move(own));
  }
  for (const Candidate& candidate : all_)
    inputs_.push_back({.path = files_[candidate.file].database.path(),
                       .pid = candidate.process.pid(),
                       .processes = per_file_[candidate.file],
                       .program = programs[candidate.file][candidate.process]});
  return {};
}

Result<void> Assigning::by_map() {
  RS_TRY(const auto ranks, ranks_from_map(inputs_, options_.rank_map));
  for (std::size_t row = 0; row < all_.size(); ++row) set(all_[row], ranks[row], by_option);
  return {};
}

// The largest communicator that most processes joined; each tells its rank in it.
void Assigning::by_communicator() {
  std::map<std::uint64_t, std::pair<std::int64_t, std::set<std::pair<std::size_t, ProcessKey>>>> members;
  for (std::size_t file = 0; file < files_.size(); ++file)
    for (const Joined& joined : files_[file].joined) {
      auto& [size, processes] = members[joined.communicator];
      size = std::max(size, joined.ranks);
      processes.insert({file, joined.process});
    }
  const auto world = std::ranges::max_element(members, {}, [](const auto& entry) {
    return std::pair{entry.second.second.size(), entry.second.first};
  });
  if (world == members.end()) return;
  // Several communicators of equal size and reach: groups inside the job, none of them the world.
  const auto rivals = std::ranges::count_if(members, [&](const auto& entry) {
    return entry.second.second.size() == world->second.second.size() && entry.second.first == world->second.first &&
           entry.second.second != world->second.second;
  });
  if (rivals > 0) return;
  for (std::size_t file = 0; file < files_.size(); ++file)
    for (const Joined& joined : files_[file].joined)
      if (Candidate* const candidate = find(file, joined.process); joined.communicator == world->first && candidate)
        set(*candidate, joined.rank, "communicator");
  world_size_ = std::max(world_size_, world->second.first);
}

Result<void> Assigning::by_mpi() {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const Database& database = files_[file].database;
    if (!database.has("MPI_RANKS")) continue;
    constexpr std::array<std::string_view, 2> columns{"globalTid", "rank"};
    RS_TRY(Rows rows, database.rows("MPI_RANKS", columns));
    while (rows.next()) {
      const auto thread = rows.integer(0);
      const auto rank = rows.integer(1);
      if (!thread || !rank || *rank < 0 || *rank >= most_ranks) continue;
      if (Candidate* const candidate = find(file, ProcessKey::of(*thread))) set(*candidate, rank, "MPI");
    }
    RS_TRY_VOID(rows.finish());
  }
  return {};
}

// Captured is the environment of the program that nsys started: a rank only if that program is the only one in the
// file.
void Assigning::by_environment() {
  constexpr std::array<std::string_view, 4> ranks{"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  constexpr std::array<std::string_view, 4> sizes{"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (Candidate& candidate : all_) {
    if (!single(candidate)) continue;
    const Environment environment{files_[candidate.file].database};
    const auto rank = environment.number(ranks);
    if (rank) world_size_ = std::max(world_size_, environment.number(sizes).value_or(0));
    set(candidate, rank, "launcher");
  }
}

void Assigning::by_file_name() {
  set_each(
      [&](const Candidate& candidate) {
        return single(candidate) ? rank_in_name(files_[candidate.file].database.file_name()) : std::nullopt;
      },
      "file name");
}

// One process per device of one host. Nothing proves that rank and device have one order, so it is marked as a guess.
void Assigning::by_device() {
  if (all_.size() < 2 ||
      std::ranges::any_of(all_, [](const Candidate& candidate) { return candidate.rank.has_value(); }))
    return;
  const bool one_host = std::ranges::all_of(files_, [&](const FileFacts& file) {
    return files_.size() == 1 || same_host(files_.front().session, file.session);
  });
  std::set<std::int64_t> devices;
  for (const Candidate& candidate : all_) {
    const auto& own = files_[candidate.file].census.processes.at(candidate.process).devices;
    if (own.size() == 1 && *own.begin() >= 0 && *own.begin() < most_ranks) devices.insert(*own.begin());
  }
  if (!one_host || devices.size() != all_.size()) return;
  for (Candidate& candidate : all_)
    set(candidate, *files_[candidate.file].census.processes.at(candidate.process).devices.begin(), "device number");
  guessed_ += all_.size();
}

void Assigning::alone() {
  if (all_.size() != 1 || all_.front().rank) return;
  set(all_.front(), 0, "only process");
  ++guessed_;
}

Result<void> Assigning::check() const {
  std::vector<std::size_t> unknown;
  std::vector<RankClaim> claims;
  for (const Candidate& candidate : all_) {
    if (!candidate.rank) unknown.push_back(claims.size());
    claims.push_back({candidate.rank, candidate.source == by_option});
  }
  RS_TRY_VOID(check_claims(inputs_, claims, world_size_));
  if (!unknown.empty()) return no_rank_found(inputs_, unknown);
  return {};
}

RankPlan Assigning::result() const {
  RankPlan plan;
  plan.files.resize(files_.size());
  plan.guessed = guessed_;
  plan.world_size = world_size_;
  for (const Candidate& candidate : all_)
    plan.files[candidate.file][candidate.process] = {RankId{static_cast<std::uint32_t>(*candidate.rank)},
                                                     candidate.source};
  return plan;
}

}  // namespace

Result<RankPlan> assign_ranks(std::span<const FileFacts> files, const ImportOptions& options) {
  return Assigning(files, options).plan();
}

}  // namespace rankscope::analyzer::nsys
