// Errors of the library pass through our functions on their way to the program. Our own C++ runtime is linked
// statically and must not touch an exception of another one, so these functions have no clean-up code (they are
// compiled without exceptions). In its place each tells the unwinder of a function that leaves what was entered and
// lets it go on.
#pragma once

/// Stands once in a function that enters exactly one scope (operations.h), and calls the library inside of it.
#define RANKSCOPE_LEAVE_ON_ERROR() asm volatile(".cfi_personality 0x1b, rankscope_c10d_left_by_error")  // NOLINT
