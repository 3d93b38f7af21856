"""Arguments in, exit code out."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from .configuration import BACKENDS, TRAINERS, Configuration
from .errors import BenchmarkError

DEFAULTS = Configuration("paddock")


def main(arguments: Sequence[str]) -> int:
    # Whoever is asked to end ends what it started.
    signal.signal(signal.SIGTERM, _interrupt)
    options = _parser().parse_args(arguments)
    try:
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except BenchmarkError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("benchmark: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _setup(options: argparse.Namespace) -> int:
    from .setup import setup

    return setup(options.bin, build=not options.no_build)


def _run(options: argparse.Namespace) -> int:
    from .containment import programs
    from .run import Where, run

    configuration = _configuration(options, options.backend, options.seed, options.fraction)
    where = Where(programs(options.bin), options.socket, options.stall_seconds)
    summary, is_new = run(configuration, options.output_dir, where)
    told = {name: summary.get(name) for name in (
        "survived", "exit_status", "steps_completed", "contagion_events", "final_reward",
        "held_out_pass_rate", "wall_time_secs",
    )}  # fmt: skip
    if not is_new:
        told["note"] = "was finished before; not run again"
    print(json.dumps(told))
    return 0


def _trial(options: argparse.Namespace) -> int:
    from . import record
    from .trial import Trial

    # A sample that sends this trainer a signal is to have the effect that it would have elsewhere.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    record.claim()
    configuration = Configuration.from_json(json.loads(options.configuration))
    if configuration.trainer == "trl":
        from .trl_trial import TrlTrial

        TrlTrial(configuration, options.name, options.socket).run()
    else:
        Trial(configuration, options.name, options.socket).run()
    return 0


def _sweep(options: argparse.Namespace) -> int:
    from .sweep import QUICK_STALL_SECS, Sweep, plan

    stall = min(options.stall_seconds, QUICK_STALL_SECS) if options.quick else options.stall_seconds
    template = _configuration(options, "paddock", 0, 0.0)
    return Sweep(
        plan(options.study, template, options.quick),
        options.output_dir,
        binaries=options.bin,
        socket=options.socket,
        stall_secs=stall,
    ).run(dry=options.dry_run, check=options.quick)


def _aggregate(options: argparse.Namespace) -> int:
    from .aggregate import aggregate

    return aggregate(options.sweep_dir, options.out_dir or options.sweep_dir)


def _plot(options: argparse.Namespace) -> int:
    from .plot import plot

    return plot(options.sweep_dir, options.out_dir)


def _configuration(
    options: argparse.Namespace, backend: str, seed: int, fraction: float
) -> Configuration:
    return Configuration(
        backend=backend,
        seed=seed,
        adversarial_fraction=fraction,
        forging_fraction=options.forging_fraction,
        steps=options.max_steps,
        group_size=options.group_size,
        time_limit_secs=options.time_limit,
        trainer=options.trainer,
        device=options.device,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmark",
        description="GRPO with hostile samples, with and without paddock (RFC 0014)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    setup = commands.add_parser("setup", help="check torch, build the programs, check the corpus")
    setup.add_argument("--no-build", action="store_true", help="use the programs that are there")
    _binaries(setup)
    setup.set_defaults(command=_setup)

    run = commands.add_parser("run", help="one trial")
    run.add_argument("--backend", choices=BACKENDS, required=True, help="who runs the code")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument(
        "--adversarial-fraction", dest="fraction", type=float, default=0.0, metavar="F"
    )
    run.add_argument("--output-dir", type=Path, required=True)
    _training(run)
    _host(run)
    run.set_defaults(command=_run)

    trial = commands.add_parser("trial")  # what an observer starts
    trial.add_argument("--configuration", required=True)
    trial.add_argument("--name", required=True)
    trial.add_argument("--socket")
    trial.set_defaults(command=_trial)

    sweep = commands.add_parser("sweep", help="all trials of a study, one after the other; resumes")
    sweep.add_argument("--study", choices=("survival", "forgery"), default="survival")
    sweep.add_argument("--output-dir", type=Path, default=Path("sweep_out"))
    sweep.add_argument("--dry-run", action="store_true", help="print the commands, run nothing")
    sweep.add_argument("--quick", action="store_true", help="four short trials, and check them")
    _training(sweep)
    _host(sweep)
    sweep.set_defaults(command=_sweep)

    aggregate = commands.add_parser("aggregate", help="summary.md and summary.json of a sweep")
    aggregate.add_argument("--sweep-dir", type=Path, default=Path("sweep_out"))
    aggregate.add_argument("--out-dir", type=Path, help="otherwise the sweep's own")
    aggregate.set_defaults(command=_aggregate)

    plot = commands.add_parser("plot", help="figures of a sweep, as PNG")
    plot.add_argument("--sweep-dir", type=Path, default=Path("sweep_out"))
    plot.add_argument("--out-dir", type=Path, default=Path("figures"))
    plot.set_defaults(command=_plot)
    return parser


def _training(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-steps", type=int, default=DEFAULTS.steps, metavar="N")
    parser.add_argument("--group-size", type=int, default=DEFAULTS.group_size, metavar="N")
    parser.add_argument(
        "--time-limit", type=float, default=DEFAULTS.time_limit_secs, metavar="SECONDS",
        help="of each sample, whoever runs it",
    )  # fmt: skip
    parser.add_argument(
        "--forging-fraction", type=float, default=0.0, metavar="F",
        help="of the warm-up's programs: what the model can forge by itself",
    )  # fmt: skip
    parser.add_argument("--trainer", choices=TRAINERS, default="grpo")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")


def _host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--socket", default=os.environ.get("PADDOCK_TRAINER_SOCKET"),
        help="trainer.sock of a paddockd that runs; otherwise each trial starts its own",
    )  # fmt: skip
    parser.add_argument("--stall-seconds", type=float, default=30.0, metavar="S")
    _binaries(parser)


def _binaries(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bin", type=Path, help="where paddock and paddockd are")
