#include "rankscope/trainer/launch/placement.h"

#include <array>
#include <cstdlib>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

Result<std::optional<int>> integer(const Environment& environment, std::string_view name) {
  const auto text = environment(name);
  if (!text) return std::optional<int>{};
  RS_TRY(const int value, number_of<int>(format("the environment variable {}", name), {.least = 0}, *text));
  return std::optional{value};
}

// Names of the variables of one launcher; an empty name means that it has none.
struct Source {
  std::string_view id;
  std::string_view rank;
  std::string_view world_size;
  std::string_view local_rank;
  std::string_view local_world_size;
  std::string_view node;
};

constexpr Source env_source{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK"};
constexpr Source slurm_source{"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", "SLURM_NODEID"};
constexpr std::array mpi_sources{
    Source{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
           "OMPI_COMM_WORLD_LOCAL_SIZE", ""},
    Source{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""},
};

Result<Placement> placement_of(const Environment& environment, const Source& source) {
  RS_TRY(const auto rank, integer(environment, source.rank));
  RS_TRY(const auto world, integer(environment, source.world_size));
  RS_TRY(const auto local_rank, integer(environment, source.local_rank));
  RS_TRY(const auto local_world, integer(environment, source.local_world_size));
  RS_TRY(const auto node, integer(environment, source.node));
  if (!rank || !world) {
    return fail(ErrorKind::usage,
                format("the environment has {} but not {}; set both or neither", rank ? source.rank : source.world_size,
                       rank ? source.world_size : source.rank));
  }
  if (*rank >= *world) {
    return fail(ErrorKind::usage, format("{}={} must be below {}={}", source.rank, *rank, source.world_size, *world));
  }
  Placement place{.rank = *rank, .world_size = *world, .source = std::string{source.id}};
  place.local_world_size = local_world.value_or(*world);
  place.local_rank = local_rank.value_or(*rank % std::max(1, place.local_world_size));
  place.node = node.value_or(0);
  return place;
}

// How many tasks srun has started together with this one; 0 where srun has started nothing. The batch script has
// SLURM_PROCID=0, too, but no step, and Slurm's own steps (batch, interactive) have numbers near 2^32.
Result<int> tasks_of_step(const Environment& environment) {
  constexpr std::uint64_t first_own_step = 0x80000000u;
  const auto text = environment("SLURM_STEP_ID");
  if (!text) return 0;
  if (!number_from<std::uint64_t>(*text, {.most = first_own_step - 1})) return 0;
  RS_TRY(const auto tasks, integer(environment, "SLURM_STEP_NUM_TASKS"));
  return tasks.value_or(1);
}

// A common pattern of users sets WORLD_SIZE=$SLURM_NTASKS and leaves the rank to Slurm.
Result<bool> slurm_knows_the_rank(const Environment& environment, int tasks) {
  if (tasks == 0 || environment("RANK") || !environment("WORLD_SIZE")) return false;
  RS_TRY(const auto world, integer(environment, "WORLD_SIZE"));
  return world == tasks;
}

Result<Placement> slurm_placement(const Environment& environment) {
  RS_TRY(Placement place, placement_of(environment, slurm_source));
  if (const auto counts = environment("SLURM_STEP_TASKS_PER_NODE")) {
    RS_TRY(const auto tasks, expand_task_counts(*counts));
    const auto node = static_cast<std::size_t>(place.node);
    if (node < tasks.size()) place.local_world_size = tasks[node];
  }
  if (const auto list = environment("SLURM_STEP_NODELIST")) {
    RS_TRY(const auto nodes, expand_nodelist(*list));
    if (nodes.size() > 1) place.master_address = nodes.front();
  }
  RS_TRY(const auto job, integer(environment, "SLURM_JOB_ID"));
  place.master_port = 10000 + job.value_or(0) % 50000;
  place.attempt = format("slurm.{}.{}.{}", environment("SLURM_JOB_ID").value_or("0"),
                         environment("SLURM_STEP_ID").value_or("0"), environment("SLURM_RESTART_COUNT").value_or("0"));
  return place;
}

Result<Placement> with_master(Placement place, const Environment& environment) {
  if (const auto address = environment("MASTER_ADDR")) place.master_address = *address;
  RS_TRY(const auto port, integer(environment, "MASTER_PORT"));
  if (port) place.master_port = *port;
  // Exactly "True" is what torchrun's agent writes when it serves the store itself: then even rank 0 is a client.
  if (environment("TORCHELASTIC_USE_AGENT_STORE") == "True") place.server = StoreServer::agent;
  if (const auto run = environment("TORCHELASTIC_RUN_ID")) {
    place.attempt = format("{}/{}", *run, environment("TORCHELASTIC_RESTART_COUNT").value_or("0"));
  }
  for (const auto* name : {"RANKSCOPE_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"}) {
    RS_TRY(const auto restarts, integer(environment, name));
    if (restarts && place.restarts == 0) place.restarts = *restarts;
  }
  RS_TRY(place.store_fd, integer(environment, "RANKSCOPE_STORE_FD"));
  if (environment("RANKSCOPE_LAUNCHER")) place.source = "rankscope";
  if (place.world_size > 1 && place.master_port == 0) {
    return fail(ErrorKind::usage,
                format("{} reports that this process is rank {} of {}, but MASTER_PORT is not set; set "
                       "MASTER_ADDR and MASTER_PORT to the address and port of rank 0",
                       place.source, place.rank, place.world_size));
  }
  return place;
}

}  // namespace

std::optional<std::string> process_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

Result<std::optional<Placement>> placement_from(const Environment& environment) {
  const auto accept = [&](Result<Placement> place) -> Result<std::optional<Placement>> {
    RS_TRY(Placement found, std::move(place));
    RS_TRY(Placement complete, with_master(std::move(found), environment));
    return std::optional{std::move(complete)};
  };
  RS_TRY(const int tasks, tasks_of_step(environment));
  RS_TRY(const bool slurm_rank, slurm_knows_the_rank(environment, tasks));
  if (slurm_rank) return accept(slurm_placement(environment));
  if (environment("RANK") || environment("WORLD_SIZE")) return accept(placement_of(environment, env_source));
  if (tasks > 1) return accept(slurm_placement(environment));
  for (const auto& source : mpi_sources) {
    if (environment(source.rank)) return accept(placement_of(environment, source));
  }
  return std::optional<Placement>{};
}

}  // namespace rankscope::trainer
