// The compiled module: each area registers itself.
#include <nanobind/nanobind.h>

namespace hedgerow {
void register_ingest(nanobind::module_& m);
void register_lattice(nanobind::module_& m);
}  // namespace hedgerow

NB_MODULE(_core, m) {
    m.doc() = "Kernels of hedgerow; private, see hedgerow.Sequences and hedgerow.lattice.";
    hedgerow::register_ingest(m);
    hedgerow::register_lattice(m);
}
