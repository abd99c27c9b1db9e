#include "engine/step/computation.h"

#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;

class ComputationHere final : public Computation {
 public:
  explicit ComputationHere(ComputationPlan plan) : plan_(std::move(plan)), backward_pace_(plan_.model, plan_.pacer) {}

  Forward forward(const Inputs& inputs, Auxiliary head) override {
    annotate::Span span{Kind::forward, "forward"};
    plan_.pacer.begin_forward();
    return run_forward(plan_.model, inputs, head, [this](std::size_t block) { plan_.pacer.forward_done(block); });
  }

  Model& model() override { return plan_.model; }

  void backward(const Forward& result) override {
    annotate::Span span{Kind::backward, "backward"};
    backward_pace_.begin();
    (result.loss / plan_.micro_steps).backward();
  }

 private:
  ComputationPlan plan_;
  BackwardPace backward_pace_;
};

}  // namespace

std::unique_ptr<Computation> compute_here(ComputationPlan plan) {
  return std::make_unique<ComputationHere>(std::move(plan));
}

}  // namespace rankscope::trainer
