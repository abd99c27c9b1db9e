#include <array>

#include "importers/kineto/kineto.h"
#include "importers/nsys/nsys.h"
#include "importers/shared/importer.h"

namespace rankscope::analyzer {

std::span<const ImporterInfo> importers() {
  static constexpr std::array<std::string_view, 2> of_kineto{".json", ".json.gz"};
  static constexpr std::array<std::string_view, 1> of_nsys{".sqlite"};
  static constexpr std::array all{
      ImporterInfo{"kineto", "Kineto JSON of torch.profiler (.json, .json.gz)", of_kineto, kineto::recognises,
                   kineto::read},
      ImporterInfo{"nsys", "SQLite exports of Nsight Systems (.sqlite)", of_nsys, nsys::recognises, nsys::read},
  };
  return all;
}

}  // namespace rankscope::analyzer
