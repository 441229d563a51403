// Python objects into ragged columns: the one place where kernels would have to know Python.
#include <nanobind/nanobind.h>

namespace hedgerow {
void register_ingest(nanobind::module_&) {}
}  // namespace hedgerow
