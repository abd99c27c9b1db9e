// Data, tensor and pipeline parallel at once: --parallel 3d.
#include <memory>

#include "engine/pipeline/stage_worker.h"
#include "engine/training/training.h"
#include "modes/ending.h"
#include "modes/modes.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/layout/mesh.h"

namespace rankscope::trainer {
namespace {

/// The groups of one rank; null where it would be alone.
struct MeshGroups {
  std::unique_ptr<Comm> all;
  std::unique_ptr<Comm> tensor;
  std::unique_ptr<Comm> data;
  std::unique_ptr<Comm> forward;
  std::unique_ptr<Comm> backward;

  [[nodiscard]] std::vector<const Comm*> each() const {
    return {all.get(), tensor.get(), data.get(), forward.get(), backward.get()};
  }
};

/// The names of groups of one direction differ by their first rank.
Result<std::unique_ptr<Comm>> group_along(Rendezvous& rendezvous, const char* name, std::vector<int> ranks,
                                          Traffic traffic = Traffic::collectives) {
  if (ranks.size() == 1) return std::unique_ptr<Comm>{};
  const int first = ranks.front();
  return rendezvous.make_group(format("{} of {}", name, first), std::move(ranks), traffic);
}

Result<MeshGroups> make_groups(Rendezvous& rendezvous, const std::string& group, const Placement& place,
                               const Mesh& mesh) {
  MeshGroups groups;
  RS_TRY(groups.all, rendezvous.make_group(group, everybody(place)));
  RS_TRY(groups.tensor, group_along(rendezvous, "tp", mesh.tensor_group()));
  RS_TRY(groups.data, group_along(rendezvous, "dp", mesh.data_group()));
  RS_TRY(groups.forward, group_along(rendezvous, "pp forward", mesh.pipeline_group(), Traffic::stages));
  RS_TRY(groups.backward, group_along(rendezvous, "pp backward", mesh.pipeline_group(), Traffic::stages));
  return groups;
}

StageSharing sharing_of(const MeshGroups& groups, const MeshOptions& options) {
  StageSharing sharing{.replicas = groups.data.get(),
                       .update = options.zero1 ? StageUpdate::sharded : StageUpdate::whole};
  if (groups.forward) sharing.pipeline.emplace(PipelineGroups{*groups.forward, *groups.backward});
  if (groups.tensor) sharing.split = {groups.tensor.get(), options.sequence};
  return sharing;
}

}  // namespace

Result<int> run_mesh(const TrainOptions& options, const Placement& place) {
  RS_TRY(const MeshShape shape, mesh_shape(options.mesh.shape, place.world_size));
  RS_TRY(const auto rendezvous, Rendezvous::meet(place, options.timeout));
  RS_TRY(const MeshGroups groups,
         make_groups(*rendezvous, std::string{options.mode->group}, place, Mesh{shape, place.rank}));
  return train_among(place, *rendezvous, groups.each(), [&] {
    return train({options, place, groups.all.get()},
                 [&](const WorkerPlan& plan) { return make_stage_worker(plan, sharing_of(groups, options.mesh)); });
  });
}

}  // namespace rankscope::trainer
