#include "inject/c10d/unwinding.h"

#include <unwind.h>

#include "inject/c10d/operations.h"

/// A personality routine that has no handlers. It calls nothing of the unwinder, whose version is not ours.
extern "C" __attribute__((visibility("hidden"), used)) _Unwind_Reason_Code rankscope_c10d_left_by_error(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context*) {
  if ((static_cast<int>(actions) & static_cast<int>(_UA_CLEANUP_PHASE)) != 0) rankscope::inject::c10d::leave();
  return _URC_CONTINUE_UNWIND;
}
