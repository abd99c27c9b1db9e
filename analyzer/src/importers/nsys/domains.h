// Names of NVTX domains and categories. Their numbers count per process.
#pragma once

#include <map>
#include <string>

#include "importers/nsys/payload.h"
#include "importers/nsys/timeline.h"

namespace rankscope::analyzer::nsys {

class Domains {
 public:
  /// Also gives threads the names that the program gave them.
  [[nodiscard]] static Result<Domains> read(const Database& database, Timeline& timeline,
                                            const PayloadSchemas& schemas);

  /// None for the default domain; "domain 3" where the export lacks the name.
  [[nodiscard]] StringId name(ProcessKey process, std::int64_t domain);
  /// True if the domain is NCCL's; a cut export may lack its name (nsys.md 5).
  [[nodiscard]] bool is_nccl(ProcessKey process, std::int64_t domain) const;
  /// The name of a category, or nothing if it has none.
  [[nodiscard]] std::optional<StringId> category(ProcessKey process, std::int64_t domain, std::int64_t id) const;

 private:
  Domains(RunBuilder& builder, const PayloadSchemas& schemas) : builder_(builder), schemas_(schemas) {}
  void learn(const Rows& rows, Timeline& timeline);

  RunBuilder& builder_;
  const PayloadSchemas& schemas_;
  std::map<std::pair<ProcessKey, std::int64_t>, StringId> names_;
  std::map<std::tuple<ProcessKey, std::int64_t, std::int64_t>, StringId> categories_;
};

}  // namespace rankscope::analyzer::nsys
