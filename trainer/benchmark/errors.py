"""What is wrong with how the benchmark was asked, or with the host: told in one line, exit code 1."""


class BenchmarkError(Exception):
    pass
