"""CasiMedicos in English, an open kin of MedExpQA."""

from ._casimedicos import casimedicos as benchmark

BENCHMARK = benchmark(
    name="casimedicos",
    title="CasiMedicos (EntQA)",
    folder="EN",
    sha256="a9c714ae3175e1d8dd2b6bc8fe7c43340620b687a23c3e921c987959d4057c67",
)
