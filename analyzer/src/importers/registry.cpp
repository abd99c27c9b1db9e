#include <array>

#include "importers/importer.h"
#include "importers/kineto/kineto.h"
#include "importers/nsys.h"

namespace rankscope::analyzer {

std::span<const ImporterInfo> importers() {
  static constexpr std::array all{
      ImporterInfo{"kineto", "Kineto JSON of torch.profiler (.json, .json.gz)", kineto::recognises, kineto::read},
      ImporterInfo{"nsys", "SQLite exports of Nsight Systems (.sqlite)", nsys::recognises, nsys::read},
  };
  return all;
}

}  // namespace rankscope::analyzer
