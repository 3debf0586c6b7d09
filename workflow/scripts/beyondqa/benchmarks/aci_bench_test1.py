"""ACI-Bench, test set 1 alone, as its published tables have it."""

from ._aci_bench import TESTS, benchmark

BENCHMARK = benchmark(name="aci_bench_test1", title="ACI-Bench test 1", tests={"test1": TESTS["test1"]})
