// Threads that wait for work between the calls of parallel_for: one pool in a process.
#pragma once

#include <cstdint>

namespace hedgerow {

// Blocks signals such as SIGINT on this thread: they must reach a thread of Python, whose system call they
// end. Faults stay with the thread.
void block_signals();

// Calls work(context, true) on this thread and work(context, false) on up to n_helpers threads of the pool;
// returns when all these calls have returned. `work` must not throw. Helpers that are still busy elsewhere
// when the call on this thread returns are not waited for: they never start. So calls may come from several
// threads at once, and from inside `work`.
void run_on_threads(std::int64_t n_helpers, void (*work)(void* context, bool is_caller), void* context);

}  // namespace hedgerow
