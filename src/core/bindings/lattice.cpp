#include <nanobind/nanobind.h>

namespace hedgerow {
void register_lattice(nanobind::module_&) {}
}  // namespace hedgerow
