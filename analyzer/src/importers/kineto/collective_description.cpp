#include "importers/kineto/collective_description.h"

#include <algorithm>

#include "importers/kineto/param_comms.h"
#include "importers/shared/comm_kernels.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

std::string_view text_at(const RunBuilder& run, const AttributeRange& attributes, std::string_view key) {
  const StringId id = run.find(key);
  const auto value = id.is_set() ? attributes.find(id) : std::nullopt;
  return value && value->kind != AttributeKind::number ? run.text(value->text) : std::string_view{};
}

std::int64_t number_at(const RunBuilder& run, const AttributeRange& attributes, std::string_view key) {
  const StringId id = run.find(key);
  const auto value = id.is_set() ? attributes.find(id) : std::nullopt;
  return value && value->kind == AttributeKind::number ? value->number : -1;
}

void fill(std::int64_t& field, std::int64_t value) {
  if (field < 0) field = value;
}

void describe_inputs(const RunBuilder& run, std::uint32_t span, const AttributeRange& attributes, Description& what) {
  const RecordedInputs inputs{text_at(run, attributes, keys::input_dims), text_at(run, attributes, keys::input_types),
                              text_at(run, attributes, keys::concrete_inputs)};
  if (inputs.types.empty()) return;
  const TensorInputs tensors = tensor_inputs_from(inputs);
  if (what.type.bytes == 0) what.type = tensors.type;
  fill(what.tensors, tensors.elements);
  const std::string_view name = run.text(run.spans()[span].name);
  if (is_pair_operator(name)) fill(what.partner, partner_from(inputs));
  if (name != "record_param_comms") return;
  const auto told = param_comms_from(inputs);
  if (!told) return;
  if (told->names_root) fill(what.rank, told->rank);
  if (what.sequence >= 0 || told->sequence < 0) return;
  what.sequence = told->sequence;
  what.sequence_from_inputs = true;
}

}  // namespace

void describe(const RunBuilder& run, std::uint32_t span, Description& what) {
  const AttributeRange attributes = run.attributes_of(span);
  if (what.op.empty()) what.op = comm_op_from(text_at(run, attributes, keys::collective_name));
  if (what.type.bytes == 0) what.type = element_type_from(text_at(run, attributes, keys::dtype));
  fill(what.in, number_at(run, attributes, keys::in_elements));
  fill(what.out, number_at(run, attributes, keys::out_elements));
  fill(what.group_size, number_at(run, attributes, keys::group_size));
  fill(what.start, number_at(run, attributes, keys::rank_start));
  fill(what.stride, number_at(run, attributes, keys::rank_stride));
  fill(what.sequence, number_at(run, attributes, keys::sequence));
  fill(what.rank, number_at(run, attributes, keys::rank));
  fill(what.source, number_at(run, attributes, keys::source_rank));
  fill(what.destination, number_at(run, attributes, keys::destination_rank));
  if (what.group.empty()) what.group = text_at(run, attributes, keys::group_name);
  if (const std::int64_t id = number_at(run, attributes, keys::group_id); what.group.empty() && id >= 0)
    what.group = std::to_string(id);
  if (what.members.empty()) what.members = text_at(run, attributes, keys::group_ranks);
  describe_inputs(run, span, attributes, what);
}

std::int64_t bytes_of(const Description& what) {
  if (what.type.bytes == 0) return -1;
  std::int64_t in = what.in;
  std::int64_t out = what.out;
  if (in < 0 && out < 0 && what.op != "scatter") {  // only the root of a scatter has inputs
    in = out = what.tensors;
    const bool divides = what.group_size > 0 && what.tensors % what.group_size == 0;
    if (what.op == "reduce_scatter") out = divides ? what.tensors / what.group_size : -1;
  }
  std::int64_t elements = std::max(in, out);
  if (what.op == "reduce_scatter" || what.op == "recv") elements = out;
  if (what.op == "allgather" || what.op == "send") elements = in;
  if (what.op == "alltoall" && in >= 0) elements = what.group_size > 0 ? in / what.group_size : -1;
  if (elements < 0 || elements > (std::int64_t{1} << 58)) return -1;
  return elements * what.type.bytes;
}

}  // namespace rankscope::analyzer::kineto
