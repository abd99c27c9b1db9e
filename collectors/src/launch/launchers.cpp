// Which launcher starts the ranks of a command.
#include <algorithm>
#include <array>
#include <string_view>

#include "folders.h"
#include "rankscope/collectors/record.h"

namespace rankscope::collectors {

std::string guess_launcher(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += word + " ";
  struct Known {
    std::string_view sign;
    std::string_view launcher;
  };
  constexpr std::array known{
      Known{"torchrun", "torchrun"},
      Known{"torch.distributed.run", "torchrun"},
      Known{"torch.distributed.launch", "torchrun"},
      Known{"accelerate ", "accelerate"},
      Known{"deepspeed ", "deepspeed"},
      Known{"srun ", "slurm"},
      Known{"mpirun ", "mpirun"},
      Known{"mpiexec ", "mpiexec"},
  };
  const auto* const found =
      std::ranges::find_if(known, [&](const Known& one) { return line.find(one.sign) != line.npos; });
  if (found != known.end()) return std::string{found->launcher};
  // The command itself starts no ranks, or only where nothing else has.
  const std::string job = job_identity();
  for (const std::string_view launcher : {"slurm", "torchrun"})
    if (job.starts_with(launcher)) return std::string{launcher};
  return line.find("rankscope-train") != line.npos ? "rankscope train" : "";
}

}  // namespace rankscope::collectors
