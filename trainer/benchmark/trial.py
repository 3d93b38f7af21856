"""One training, from the warm-up to the last step. What it finds out it says to its observer."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from . import record
from .backends.forgeable import forgeable
from .backends.in_loop import in_loop
from .backends.paddock import Paddock, connect, daemon_of
from .configuration import Configuration
from .containment import require_contained
from .corpus import Hostile, load
from .device import Utilisation, describe, pick
from .errors import BenchmarkError
from .grpo import update
from .injection import Injector
from .policy import Policy, vocabulary
from .samples import Backend, Judgement, Sample
from .tasks import TASKS, program
from .vitals import Watch
from .warm_up import warm_up

CHECKPOINT = "checkpoint.pt"


def weights_hash(policy: torch.nn.Module) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(policy.state_dict().items()):
        digest.update(name.encode())
        digest.update(value.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def own_backend(configuration: Configuration) -> Backend:
    """That runs the code itself."""
    require_contained()
    own = in_loop if configuration.backend == "in_loop" else forgeable
    return own(configuration.time_limit_secs)


class Trial:
    def __init__(self, configuration: Configuration, name: str, socket: str | None) -> None:
        self._configuration = configuration
        self._name = name  # no other trial of the same daemon has it
        self._words = vocabulary(configuration.forging_fraction > 0)
        self._device = pick(configuration.device)
        torch.set_num_threads(1)  # the same for all backends
        torch.manual_seed(configuration.seed)
        self._policy = Policy(self._words, len(TASKS)).to(self._device)
        self._socket = socket

    def run(self) -> None:
        corpus = load()
        backend, watch = self._backend()
        try:
            self._warm_up()
            self._train(backend, watch, corpus)
        finally:
            backend.close()

    def _warm_up(self) -> None:
        configuration = self._configuration
        began = time.monotonic()
        warm_up(
            self._policy,
            self._words,
            configuration.warm_up_steps,
            configuration.forging_fraction,
            random.Random(f"paddock warm-up {configuration.seed}"),
        )
        record.say(
            "started",
            device=describe(self._device),
            torch=torch.__version__,
            parameters=sum(p.numel() for p in self._policy.parameters()),
            policy_sha256=weights_hash(self._policy),
            warm_up_secs=round(time.monotonic() - began, 3),
        )

    def _backend(self) -> tuple[Backend, Watch]:
        work = Path.cwd()
        if self._configuration.backend == "paddock":
            if self._socket is None:
                raise BenchmarkError("the backend paddock needs a socket")
            client = connect(self._socket)
            limit = self._configuration.time_limit_secs
            return Paddock(client, limit), Watch(work, daemon_of(self._socket))
        return own_backend(self._configuration), Watch(work, None)

    def _train(self, backend: Backend, watch: Watch, corpus: Sequence[Hostile]) -> None:
        configuration = self._configuration
        reference = copy.deepcopy(self._policy).requires_grad_(False)
        optimizer = torch.optim.Adam(self._policy.parameters(), lr=configuration.learning_rate)
        generator = torch.Generator().manual_seed(configuration.seed)
        injector = Injector(corpus, configuration.adversarial_fraction, configuration.seed)
        utilisation = Utilisation(self._device)
        order = [task for task in range(len(TASKS)) for _ in range(configuration.group_size)]
        tasks = torch.tensor(order, device=self._device)
        # A first judgement, so that what is started once is not taken for what a step left behind.
        backend.judge(f"{self._name}-first", [Sample("first", 0, 0, program("a"))])

        for step in range(configuration.steps):
            before = watch.begin()
            began = time.monotonic()
            written = self._policy.write(tasks, generator)
            expressions = written.texts(self._words)
            hostile = injector.draw(len(order))
            samples = [
                _sample(step, index, order[index], expressions[index], hostile[index])
                for index in range(len(order))
            ]
            judging = time.monotonic()
            judged = backend.judge(f"{self._name}-{step}", samples)
            judge_time = time.monotonic() - judging
            done = update(
                self._policy,
                reference,
                optimizer,
                tasks,
                written,
                judged.advantages,
                epochs=configuration.epochs,
                clip=configuration.clip,
                kl_weight=configuration.kl_weight,
            )
            step_time = time.monotonic() - began
            after = watch.settled()
            record.say(
                "step",
                step=step,
                **rewards_of(samples, judged),
                entropy=done.entropy,
                kl=done.kl,
                loss=done.loss,
                clipped=done.clipped,
                step_time_secs=step_time,
                judge_time_secs=judge_time,
                device_utilisation=utilisation.read(),
                device_utilisation_reason=utilisation.reason,
                contagion=[event.to_json() for event in watch.contagion(before, after)],
                before=before.to_json(),
                after=after.to_json(),
            )
            record.say(
                "samples",
                step=step,
                samples=[
                    [order[i], expressions[i], judged.rewards[i]]
                    for i in range(len(order))
                    if samples[i].injected is None
                ],
            )
            if (step + 1) % configuration.checkpoint_steps == 0:
                Path(CHECKPOINT).write_bytes(self._checkpoint(optimizer, step + 1))
        final = self._checkpoint(optimizer, configuration.steps)
        record.say("checkpoint", data=base64.b64encode(final).decode("ascii"))
        record.say("finished", policy_sha256=weights_hash(self._policy))

    def _checkpoint(self, optimizer: torch.optim.Optimizer, steps: int) -> bytes:
        file = io.BytesIO()
        torch.save(
            {
                "configuration": self._configuration.to_json(),
                "steps": steps,
                "policy": self._policy.state_dict(),
                "optimizer": optimizer.state_dict(),
            },
            file,
        )
        return file.getvalue()


def _sample(step: int, index: int, task: int, expression: str, hostile: Hostile | None) -> Sample:
    name = f"s{step}-{index}"
    if hostile is None:
        return Sample(name, task, task, program(expression))
    return Sample(name, task, task, hostile.code, hostile.id)


def rewards_of(samples: Sequence[Sample], judged: Judgement) -> dict[str, Any]:
    """What the model wrote and what was injected, apart."""
    pairs = list(zip(samples, judged.rewards))
    own = [r for sample, r in pairs if sample.injected is None and r is not None]
    foreign = [(s.injected, r) for s, r in pairs if s.injected is not None]
    return {
        "reward": sum(own) / len(own) if own else None,
        "judged": len(own),
        "invalid": sum(1 for _, reward in pairs if reward is None),
        "injected": len(foreign),
        "injected_invalid": sum(1 for _, reward in foreign if reward is None),
        "injected_reward": sum(reward or 0.0 for _, reward in foreign),
        "paid": sorted({str(name) for name, reward in foreign if reward}),
    }
