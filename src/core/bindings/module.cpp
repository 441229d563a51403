// The compiled module: each area registers itself.
#include <nanobind/nanobind.h>

#include "bindings/errors.hpp"
#include "util/interrupt.hpp"

namespace hedgerow {
void register_alphabet(nanobind::module_& m);
void register_bags(nanobind::module_& m);
void register_column_text(nanobind::module_& m);
void register_derived_columns(nanobind::module_& m);
void register_descent(nanobind::module_& m);
void register_exact_sum(nanobind::module_& m);
void register_induction(nanobind::module_& m);
void register_dual_ascent(nanobind::module_& m);
void register_frank_wolfe(nanobind::module_& m);
void register_ingest(nanobind::module_& m);
void register_label_statistics(nanobind::module_& m);
void register_lattice(nanobind::module_& m);
void register_linear(nanobind::module_& m);
void register_online(nanobind::module_& m);
void register_path_steps(nanobind::module_& m);
void register_attributes(nanobind::module_& m);
void register_search(nanobind::module_& m);
void register_spans(nanobind::module_& m);
void register_softmax(nanobind::module_& m);
void register_tree_shapley(nanobind::module_& m);
void register_trees(nanobind::module_& m);

void poll_interrupt() {
    const nanobind::gil_scoped_acquire gil;
    check_signals();
}
}  // namespace hedgerow

NB_MODULE(_core, m) {
    m.doc() = "Compiled kernels of hedgerow; private.";
    // Models that test suites and caches still hold when Python ends are no defect to tell users of.
    nanobind::set_leak_warnings(false);
    hedgerow::register_alphabet(m);
    hedgerow::register_bags(m);
    hedgerow::register_column_text(m);
    hedgerow::register_derived_columns(m);
    hedgerow::register_dual_ascent(m);
    hedgerow::register_exact_sum(m);
    hedgerow::register_frank_wolfe(m);
    hedgerow::register_ingest(m);
    hedgerow::register_label_statistics(m);
    hedgerow::register_lattice(m);
    hedgerow::register_linear(m);
    hedgerow::register_descent(m);
    hedgerow::register_online(m);
    hedgerow::register_path_steps(m);
    hedgerow::register_attributes(m);
    hedgerow::register_search(m);
    hedgerow::register_spans(m);
    hedgerow::register_softmax(m);
    hedgerow::register_induction(m);
    hedgerow::register_tree_shapley(m);
    hedgerow::register_trees(m);
}
