"""TRL's GRPOTrainer learns to write one right program, from verdicts alone.

A model of a few thousand weights chooses a program by one token; in one row of four the tests are
unusable, so that a part of each batch has no reward."""

import sys

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from paddock import AsyncClient, Client, TooManyInvalid
from paddock.trl import gate, reward

PROGRAMS = {
    "add": "def f(a, b): return a + b",
    "sub": "def f(a, b): return a - b",
    "mul": "def f(a, b): return a * b",
    "exit": "import os; os._exit(0)",
    "equal": "def f(a, b): return type('X', (int,), {'__eq__': lambda *_: True})()",
}
TESTS = "assert f(2, 3) == 5\nassert f(-1, 1) == 0\nassert f(2, 2) == 4\n"
UNUSABLE = "assert f(2, 3 == 5\n"


def code_of(completion):
    words = completion.split()
    return PROGRAMS.get(words[0], "") if words else ""


def style(completions, **_):
    return [1.0 for _ in completions]


def trainer(rewards, directory, steps):
    words = ["<pad>", "<eos>", "<unk>", "task", *PROGRAMS]
    vocabulary = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    vocabulary.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=vocabulary, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
        padding_side="left")
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0,
        eos_token_id=1, bos_token_id=None))
    rows = [{"prompt": "task", "tests": UNUSABLE if i % 4 == 0 else TESTS} for i in range(64)]
    arguments = GRPOConfig(
        output_dir=directory, use_cpu=True, bf16=False, per_device_train_batch_size=32,
        num_generations=8, max_completion_length=1, max_steps=steps, learning_rate=3e-2, beta=0.0,
        report_to=[], logging_steps=1, save_strategy="no", disable_tqdm=True, shuffle_dataset=False)
    return GRPOTrainer(model=model, reward_funcs=rewards, args=arguments,
                       train_dataset=Dataset.from_list(rows), processing_class=tokenizer)


def learned(rewards, directory, steps):
    running = trainer(rewards, directory, steps)
    running.train()
    return [entry for entry in running.state.log_history if "reward" in entry]


def main():
    socket, directory = sys.argv[1:]
    for client in (Client(socket), AsyncClient(socket)):
        log = learned(gate(reward(client, extract=code_of), style), directory, steps=12)
        means = [entry["rewards/paddock_reward/mean"] for entry in log]
        invalid = [entry["paddock/invalid"] for entry in log]
        print(type(client).__name__, [round(mean, 2) for mean in means], invalid)
        assert means[0] < 0.6, means
        assert means[-1] > 0.95, means
        assert all(share == 0.25 for share in invalid), invalid
        # Ungated, a sample without a verdict would be in this mean with its style alone.
        for entry, mean in zip(log, means):
            assert abs(entry["reward"] - (mean + 1.0)) < 1e-3, entry

    try:
        away = Client(socket + ".away", timeout=0.5)
        learned(reward(away, extract=code_of, stop_after_invalid=40), directory, steps=12)
        raise AssertionError("a training without rewards went on")
    except TooManyInvalid as error:
        assert error.cause == "unavailable", error
    print("trl: 3 passed, 0 failed")


main()
