// What is told of an operator beside its name: --shapes and --stack.
#pragma once

#include "engine/libtorch.h"

namespace rankscope::trainer {

/// Tells the inputs and the call context of an operator whose span has just been begun.
class OperatorDetails {
 public:
  /// Reads what the user asked for.
  OperatorDetails();
  [[nodiscard]] bool needs_inputs() const { return shapes_; }
  [[nodiscard]] bool follows_backward() const { return stack_; }
  void tell(const at::RecordFunction& function) const;

 private:
  bool shapes_;
  bool stack_;
};

/// Operators of backward are run by the graph's nodes: each has the number of the forward operator that made it.
void begin_backward_node(const at::RecordFunction& function);
void end_backward_node();

}  // namespace rankscope::trainer
