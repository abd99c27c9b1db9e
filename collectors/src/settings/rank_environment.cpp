#include "settings/rank_environment.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

constexpr Bounds<std::int32_t> not_negative{.least = 0};

std::optional<std::int32_t> number(const Lookup& lookup, const char* name) {
  const char* const text = lookup(name);
  return text == nullptr ? std::nullopt : number_from(text, not_negative);
}

std::int32_t number_or_none(const Lookup& lookup, const char* name) { return number(lookup, name).value_or(-1); }

/// Only srun's tasks are ranks: the batch script has SLURM_PROCID=0 and SLURM_NTASKS=4, too, but no step. Slurm's own
/// steps (batch, interactive, extern) have numbers near 2^32, which are no int32. A task alone in its step is a rank
/// only where WORLD_SIZE says so, since launchers stand in such steps, too.
bool in_slurm_step(const Lookup& lookup) {
  const auto tasks = number(lookup, "SLURM_STEP_NUM_TASKS").value_or(0);
  return number(lookup, "SLURM_STEP_ID").has_value() && number(lookup, "SLURM_PROCID").has_value() &&
         (tasks > 1 || (tasks == 1 && number(lookup, "WORLD_SIZE") == 1));
}

RankEnvironment from_slurm(const Lookup& lookup) {
  RankEnvironment found;
  found.rank = number_or_none(lookup, "SLURM_PROCID");
  found.world_size = number_or_none(lookup, "SLURM_STEP_NUM_TASKS");
  found.local_rank = number_or_none(lookup, "SLURM_LOCALID");
  if (const char* const tasks = lookup("SLURM_STEP_TASKS_PER_NODE")) {
    found.local_world_size = tasks_on_node(tasks, number(lookup, "SLURM_NODEID").value_or(0));
  }
  found.source = "SLURM_PROCID";
  return found;
}

/// The variables of one family of launchers; null = it has none for that.
struct Family {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;
};
constexpr std::array mpi_families{
    Family{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Family{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};
constexpr Family torchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};

RankEnvironment from_family(const Lookup& lookup, const Family& family) {
  RankEnvironment found;
  found.rank = number_or_none(lookup, family.rank);
  found.world_size = number_or_none(lookup, family.world_size);
  found.local_rank = number_or_none(lookup, family.local_rank);
  found.local_world_size = number_or_none(lookup, family.local_world_size);
  found.source = family.rank;
  return found;
}

RankEnvironment from_torchrun(const Lookup& lookup) {
  RankEnvironment found = from_family(lookup, torchrun);
  if (found.world_size < 0) found.problem = "RANK is set, but WORLD_SIZE is not set";
  return found;
}

/// A common pattern: WORLD_SIZE=$SLURM_NPROCS is exported, and RANK is computed inside the program.
std::string slurm_problem(const Lookup& lookup, const RankEnvironment& slurm) {
  const auto world = number(lookup, "WORLD_SIZE");
  if (!world || *world == slurm.world_size) return {};
  return "WORLD_SIZE is not the number of tasks of this Slurm step";
}

/// An agent that inherits a RANK that was set by hand is no rank; its workers, whose command lines may look like that
/// of an agent, have the number of its run.
bool is_rank_of_torchrun(const Lookup& lookup, const RankQuestion& question) {
  const bool is_worker = lookup("TORCHELASTIC_RUN_ID") != nullptr;
  return number(lookup, "RANK") && (is_worker || !is_launch_agent(question.command_line));
}

RankEnvironment launcher_rank(const Lookup& lookup, const RankQuestion& question) {
  if (is_rank_of_torchrun(lookup, question)) return from_torchrun(lookup);
  if (is_launch_agent(question.command_line)) return {};  // its task number is no rank: the ranks are its children
  if (in_slurm_step(lookup)) {
    RankEnvironment found = from_slurm(lookup);
    found.problem = slurm_problem(lookup, found);
    // WORLD_SIZE of another size means that ranks are made below this task: the task number is not one of them.
    return found.problem.empty() ? found : RankEnvironment{.problem = found.problem};
  }
  for (const Family& family : mpi_families) {
    if (number(lookup, family.rank)) return from_family(lookup, family);
  }
  return {};
}

RankEnvironment named_rank(const Lookup& lookup, const RankQuestion& question) {
  const char* const text = lookup(question.rank_env.c_str());
  if (text == nullptr) return {};
  const auto rank = number_from(text, not_negative);
  if (!rank)
    return RankEnvironment{
        .problem = format("{} must be {} (is \"{}\")", question.rank_env, number_words(not_negative), text)};
  RankEnvironment found = launcher_rank(lookup, question);
  if (found.world_size < 0) found.world_size = number_or_none(lookup, "WORLD_SIZE");
  found.rank = *rank;
  found.source = question.rank_env;
  return found;
}

}  // namespace

RankEnvironment find_rank(const Lookup& lookup, const RankQuestion& question) {
  RankEnvironment found = question.rank_env.empty() ? launcher_rank(lookup, question) : named_rank(lookup, question);
  if (found.rank >= 0 && found.world_size >= 0 && found.rank >= found.world_size) {
    return RankEnvironment{.problem = found.source + " is not below the number of ranks"};
  }
  return found;
}

bool is_launch_agent(std::string_view command_line) {
  constexpr std::array<std::string_view, 6> agents{
      "torchrun",  "torch.distributed.run", "torch.distributed.launch", "torch/distributed/run.py", "accelerate launch",
      "deepspeed "};
  return std::ranges::any_of(agents,
                             [&](std::string_view agent) { return command_line.find(agent) != command_line.npos; });
}

std::int32_t tasks_on_node(std::string_view tasks_per_node, std::int32_t node) {
  while (!tasks_per_node.empty()) {
    const std::string_view item = tasks_per_node.substr(0, tasks_per_node.find(','));
    tasks_per_node.remove_prefix(std::min(tasks_per_node.size(), item.size() + 1));
    const std::size_t bracket = item.find("(x");
    const auto tasks = number_from(item.substr(0, bracket), not_negative);
    std::int32_t nodes = 1;
    if (bracket != item.npos) {
      if (!item.ends_with(')')) return -1;
      nodes = number_from(item.substr(bracket + 2, item.size() - bracket - 3), not_negative).value_or(0);
    }
    if (!tasks || nodes <= 0) return -1;
    if (node < nodes) return *tasks;
    node -= nodes;
  }
  return -1;
}

bool tells_rank(std::string_view variable, std::string_view rank_env) {
  if (!rank_env.empty() && variable == rank_env) return true;
  const auto holds = [variable](const Family& family) {
    return variable == family.rank || variable == family.world_size || variable == family.local_rank ||
           variable == family.local_world_size;
  };
  return variable == "SLURM_PROCID" || variable == "SLURM_LOCALID" || holds(torchrun) ||
         std::ranges::any_of(mpi_families, holds);
}

}  // namespace rankscope::collectors
