#include "kernels/kernel_keys.h"

#include "words/keys.h"

namespace rankscope::analyzer {

KernelKeys::KernelKeys(const Run& run)
    : run_(run), grid_(run.strings().find(keys::grid)), block_(run.strings().find(keys::block)) {}

KernelKey KernelKeys::without_shape(const Activity& activity) const {
  return {run_.span(activity.span).name, activity.kind, {}, {}};
}

KernelKey KernelKeys::with_shape(const Activity& activity) const {
  KernelKey key = without_shape(activity);
  for (const Attribute& attribute : run_.attributes_of(activity.span)) {
    if (attribute.value.kind == AttributeKind::number) continue;
    if (attribute.key == grid_) key.grid = attribute.value.text;
    if (attribute.key == block_) key.block = attribute.value.text;
  }
  return key;
}

}  // namespace rankscope::analyzer
