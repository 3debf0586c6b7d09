"""CasiMedicos in Spanish."""

from ._casimedicos import casimedicos as benchmark

BENCHMARK = benchmark(
    name="casimedicos_es",
    title="CasiMedicos (Spanish, EntQA)",
    folder="ES",
    sha256="6482f506db5e7d1a35997f4d43d96897d28d7b48d85ed6ef020959438d9d3fc6",
    prompt="entqa_es",
    language="es",
)
