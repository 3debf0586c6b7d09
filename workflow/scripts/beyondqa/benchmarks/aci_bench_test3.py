"""ACI-Bench, test set 3 alone, as its published tables have it."""

from ._aci_bench import TESTS, benchmark

BENCHMARK = benchmark(name="aci_bench_test3", title="ACI-Bench test 3", tests={"test3": TESTS["test3"]})
