"""ACI-Bench: the three test sets together."""

from ._aci_bench import TESTS, benchmark

BENCHMARK = benchmark(
    name="aci_bench",
    title="ACI-Bench",
    tests=TESTS,
    notes="The authors do not name their split: the three test sets, 120 visits, are taken.",
)
