"""ACI-Bench, test set 2 alone, as its published tables have it."""

from ._aci_bench import TESTS, benchmark

BENCHMARK = benchmark(name="aci_bench_test2", title="ACI-Bench test 2", tests={"test2": TESTS["test2"]})
