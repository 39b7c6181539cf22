"""Views: operators beside loops written by hand, and views beside RocksDB alone."""

from harness.build import build_target
from harness.suites import Suite
from views import end_to_end, operators


class Views(Suite):
    name = "views"
    summary = "operators, as ratios to hand-written loops; views end to end, to raw RocksDB"

    def workloads(self):
        named = [(name, description) for name, description, _ in operators.WORKLOADS]
        return named + [("instructions", "of the operators, for each change, by callgrind"),
                        *end_to_end.WORKLOADS]

    def run(self, options, report):
        binary = str(build_target(options.build_dir, "weir_bench_views",
                                  "does bench/views have a CMakeLists.txt?"))
        operators.run(binary, options, report)
        end_to_end.run(binary, options, report)


SUITE = Views()
