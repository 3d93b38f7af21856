"""The same training through TRL's GRPOTrainer: a small Llama made here, TRL's own advantages. A sample
that was injected has no reward (None), and TRL leaves such a row out of its group."""

from __future__ import annotations

import base64
import io
import random
import time
from pathlib import Path
from typing import Any

import torch

from . import record
from .backends.paddock import Paddock, connect, daemon_of
from .configuration import Configuration
from .corpus import load
from .device import Utilisation, describe, pick
from .errors import BenchmarkError
from .injection import Injector
from .policy import LENGTH_MAX, TOKENS
from .samples import Backend, Sample
from .tasks import TASKS, program
from .trial import own_backend, rewards_of, weights_hash
from .vitals import Vitals, Watch
from .warm_up import expression

try:
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
        TrainerCallback,
    )
    from trl import GRPOConfig, GRPOTrainer
except ImportError as error:
    raise BenchmarkError(f"--trainer trl needs TRL in this Python: {error}") from None

HIDDEN, LAYERS, HEADS = 64, 2, 4
WARM_UP_BATCH = 64
WARM_UP_LEARNING_RATE = 3e-3
LEARNING_RATE = 1e-3
REFERENCE = "./reference"
PAD, END, UNKNOWN = "<pad>", "<eos>", "<unk>"


def _tokenizer() -> Any:
    words = [PAD, END, UNKNOWN, *(f"task{index}" for index in range(len(TASKS))), *TOKENS]
    vocabulary = Tokenizer(
        models.WordLevel({word: index for index, word in enumerate(words)}, unk_token=UNKNOWN)
    )
    vocabulary.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=vocabulary,
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
        padding_side="left",
    )


def _model(words: int) -> Any:
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=words,
            hidden_size=HIDDEN,
            intermediate_size=2 * HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            max_position_embeddings=4 * LENGTH_MAX,
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=None,
        )
    )


class _Observed(TrainerCallback):  # type: ignore[misc]
    """Puts together what a step's rewards and TRL's log say of it."""

    def __init__(self, trial: TrlTrial) -> None:
        self._trial = trial
        self._began = 0.0
        self._seconds = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._trial.configuration.epochs == 0:
            self._began = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._seconds = time.monotonic() - self._began

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "entropy" in logs and state.global_step % self._trial.configuration.epochs == 0:
            self._trial.step_is_over(self._seconds, logs)


class TrlTrial:
    def __init__(self, configuration: Configuration, name: str, socket: str | None) -> None:
        if configuration.forging_fraction > 0:
            raise BenchmarkError("the forgery study has a trainer of its own: --trainer grpo")
        self.configuration = configuration
        self._name = name
        self._socket = socket
        self._device = pick(configuration.device)
        torch.set_num_threads(1)
        torch.manual_seed(configuration.seed)
        self._words = _tokenizer()
        self._model = _model(len(self._words)).to(self._device)
        self._injector = Injector(load(), configuration.adversarial_fraction, configuration.seed)
        self._utilisation = Utilisation(self._device)
        self._step = 0
        self._pending: dict[str, Any] = {}
        self._samples: list[list[Any]] = []
        self._backend, self._watch = self._who_judges()

    def run(self) -> None:
        try:
            self._warm_up()
            self._train()
        finally:
            self._backend.close()

    def _who_judges(self) -> tuple[Backend, Watch]:
        configuration = self.configuration
        if configuration.backend == "paddock":
            if self._socket is None:
                raise BenchmarkError("the backend paddock needs a socket")
            client = connect(self._socket)
            return (
                Paddock(client, configuration.time_limit_secs),
                Watch(Path.cwd(), daemon_of(self._socket)),
            )
        return own_backend(configuration), Watch(Path.cwd(), None)

    def _warm_up(self) -> None:
        began = time.monotonic()
        rng = random.Random(f"paddock warm-up {self.configuration.seed}")
        optimizer = torch.optim.AdamW(self._model.parameters(), lr=WARM_UP_LEARNING_RATE)
        for _ in range(self.configuration.warm_up_steps):
            tasks = [rng.randrange(len(TASKS)) for _ in range(WARM_UP_BATCH)]
            texts = [f"task{task} {expression(rng, TASKS[task], 0.0)} {END}" for task in tasks]
            read = self._words(texts, padding=True, return_tensors="pt").to(self._device)
            labels = read["input_ids"].masked_fill(read["attention_mask"] == 0, -100)
            labels[:, 0] = -100
            loss = self._model(
                input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels
            ).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        record.say(
            "started",
            device=describe(self._device),
            torch=torch.__version__,
            parameters=sum(p.numel() for p in self._model.parameters()),
            policy_sha256=weights_hash(self._model),
            warm_up_secs=round(time.monotonic() - began, 3),
        )

    def _train(self) -> None:
        configuration = self.configuration
        samples = len(TASKS) * configuration.group_size
        self._backend.judge(f"{self._name}-first", [Sample("first", 0, 0, program("a"))])
        arguments = GRPOConfig(
            output_dir="trl",
            use_cpu=self._device.type == "cpu",
            bf16=False,
            per_device_train_batch_size=samples,
            num_generations=configuration.group_size,
            num_iterations=configuration.epochs,
            max_completion_length=LENGTH_MAX,
            max_steps=configuration.steps * configuration.epochs,
            learning_rate=LEARNING_RATE,
            lr_scheduler_type="constant",
            beta=configuration.kl_weight,
            epsilon=configuration.clip,
            temperature=1.0,
            seed=configuration.seed,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
            disable_tqdm=True,
            shuffle_dataset=False,
        )
        # TRL reads its frozen reference from where the model says that it is from.
        self._model.save_pretrained(REFERENCE)
        self._model.config._name_or_path = REFERENCE
        rows = [{"prompt": f"task{task}"} for task in range(len(TASKS))]
        trainer = GRPOTrainer(
            model=self._model,
            reward_funcs=self._reward,
            args=arguments,
            train_dataset=Dataset.from_list(rows * configuration.steps),
            processing_class=self._words,
            callbacks=[_Observed(self)],
        )
        trainer.train()
        file = io.BytesIO()
        torch.save(
            {"configuration": configuration.to_json(), "policy": self._model.state_dict()}, file
        )
        record.say("checkpoint", data=base64.b64encode(file.getvalue()).decode("ascii"))
        record.say("finished", policy_sha256=weights_hash(self._model))

    def _reward(self, prompts: Any, completions: Any, **_: Any) -> list[float | None]:
        hostile = self._injector.draw(len(prompts))
        tasks = [int(str(prompt).removeprefix("task")) for prompt in prompts]
        texts = [" ".join(str(text).replace(END, "").split()) for text in completions]
        samples = [
            Sample(
                f"s{self._step}-{index}",
                task,
                task,
                program(text) if bad is None else bad.code,
                None if bad is None else bad.id,
            )
            for index, (task, text, bad) in enumerate(zip(tasks, texts, hostile))
        ]
        before: Vitals = self._watch.begin()
        began = time.monotonic()
        judged = self._backend.judge(f"{self._name}-{self._step}", samples)
        judge_time = time.monotonic() - began
        after = self._watch.settled()
        self._pending = {
            **rewards_of(samples, judged),
            "judge_time_secs": judge_time,
            "contagion": [event.to_json() for event in self._watch.contagion(before, after)],
            "before": before.to_json(),
            "after": after.to_json(),
        }
        self._samples = [
            [task, text, reward]
            for task, text, reward, bad in zip(tasks, texts, judged.rewards, hostile)
            if bad is None
        ]
        return [r if bad is None else None for r, bad in zip(judged.rewards, hostile)]

    def step_is_over(self, seconds: float, logs: dict[str, Any]) -> None:
        record.say(
            "step",
            step=self._step,
            **self._pending,
            entropy=logs.get("entropy"),
            kl=logs.get("kl"),
            loss=logs.get("loss"),
            clipped=logs.get("clip_ratio/region_mean"),
            step_time_secs=seconds,
            device_utilisation=self._utilisation.read(),
            device_utilisation_reason=self._utilisation.reason,
        )
        record.say("samples", step=self._step, samples=self._samples)
        self._step += 1
