#include "rankscope/trainer/options/model_size.h"

#include <string>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

/// `what` is the option that sets the number.
Result<void> check_shared(const std::string& what, std::int64_t count, std::int64_t ranks) {
  if (count % ranks == 0) return {};
  const std::int64_t below = count / ranks * ranks;
  return fail(ErrorKind::usage,
              format("{0} {1} cannot be shared equally by {2} ranks; give {0} {3}", what, count, ranks,
                     below > 0 ? format("{} or {}", below, below + ranks) : format("{}", ranks)));
}

Result<void> check_gpt(const GptSize& size, std::int64_t ranks, SequenceParallel sequence) {
  if (gpt_vocabulary % ranks != 0) {
    return fail(ErrorKind::usage,
                format("a vocabulary of {} tokens cannot be shared equally by {} ranks; use 2, 4 or 8 ranks",
                       gpt_vocabulary, ranks));
  }
  RS_TRY_VOID(check_shared("--heads", size.heads, ranks));
  return sequence == SequenceParallel::yes ? check_shared("--seq", size.sequence, ranks) : Result<void>{};
}

Result<void> refuse(const ModelOptions& options, const char* why, const char* instead) {
  return fail(ErrorKind::usage, format("--model {} {}; take {}", name_of(options.kind), why, instead));
}

}  // namespace

std::int64_t layers_of(const ModelOptions& options) {
  if (is_convolutional(options.kind)) return 0;
  if (options.layers > 0) return options.layers;
  const bool tiny = options.scale == Scale::tiny;
  return options.kind == ModelKind::gpt ? (tiny ? 2 : 6) : (tiny ? 4 : 8);
}

std::int64_t mlp_width(const ModelOptions& options) {
  if (options.hidden > 0) return options.hidden;
  return options.scale == Scale::tiny ? 256 : 4096;
}

GptSize gpt_size(const ModelOptions& options) {
  GptSize size = options.scale == Scale::tiny ? GptSize{0, 64, 4, 32} : GptSize{0, 256, 8, 128};
  size.layers = layers_of(options);
  if (options.hidden > 0) size.hidden = options.hidden;
  if (options.heads > 0) size.heads = options.heads;
  if (options.sequence > 0) size.sequence = options.sequence;
  return size;
}

Result<void> check_split(const ModelOptions& options, std::int64_t ranks, SequenceParallel sequence) {
  const bool with_sequence = sequence == SequenceParallel::yes;
  if (is_convolutional(options.kind)) {
    return refuse(options, "has layers that cannot be split",
                  with_sequence ? "--model gpt" : "--model gpt or --model mlp");
  }
  if (options.kind == ModelKind::gpt) return check_gpt(gpt_size(options), ranks, sequence);
  if (with_sequence) return refuse(options, "has no sequence to split", "--model gpt, or --parallel tp");
  return check_shared("--hidden", mlp_width(options), ranks);
}

}  // namespace rankscope::trainer
