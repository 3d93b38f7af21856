"""verl's own reward loop (its manager, a Ray worker, its reward manager) with paddock.verl."""

import sys

import numpy as np
import ray
import torch
from omegaconf import OmegaConf
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.experimental.reward_loop import RewardLoopManager

RIGHT, WRONG = "right", "wrong"
WORDS = {RIGHT: "def f(x): return x + 1", WRONG: "def f(x): return x"}
KEYS = ["score", "infra", "verdict", "cause", "passed", "total"]


def config(directory, function, socket):
    return OmegaConf.create({
        "actor_rollout_ref": {"model": {"path": directory, "tokenizer_path": directory}},
        "reward": {
            "num_workers": 1,
            "reward_model": {"enable": False},
            "reward_manager": {"source": "register", "name": "naive", "module": None},
            "custom_reward_function": {
                "path": "pkg://paddock.verl", "name": function,
                "reward_kwargs": {"socket": socket, "retries": 0, "timeout": 20}},
        }})


def batch(tokenizer, samples):
    prompt = torch.tensor([[3]] * len(samples))
    responses = torch.tensor([tokenizer.encode(code) for code, _ in samples])
    return DataProto.from_dict(
        tensors={"prompts": prompt, "responses": responses,
                 "input_ids": torch.cat([prompt, responses], 1),
                 "attention_mask": torch.ones(len(samples), 1 + responses.shape[1], dtype=torch.long)},
        non_tensors={"data_source": np.array(["code"] * len(samples), dtype=object),
                     "reward_model": np.array([{"ground_truth": tests} for _, tests in samples],
                                              dtype=object),
                     "extra_info": np.array([{"index": i} for i in range(len(samples))], dtype=object)})


def main():
    socket, directory = sys.argv[1:]
    # A word of this vocabulary is a whole program: the tokens of a real one are not the point here.
    words = ["<pad>", "<eos>", "<unk>", "task", *WORDS.values()]
    vocabulary = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    vocabulary.pre_tokenizer = pre_tokenizers.Split("\n", "removed")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=vocabulary, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    tokenizer.save_pretrained(directory)
    samples = [(WORDS[RIGHT], "assert f(1) == 2\nassert f(2) == 3"),
               (WORDS[WRONG], "assert f(1) == 2\nassert f(2) == 3"),
               (WORDS[RIGHT], "assert f(1 == 2")]
    ray.init(num_cpus=1, include_dashboard=False, _temp_dir=directory[:60], log_to_driver=False)
    try:
        for function in ("compute_score", "compute_score_async"):
            manager = RewardLoopManager(config(directory, function, socket))
            scored = manager.compute_rm_score(batch(tokenizer, samples))
            assert scored.meta_info["reward_extra_keys"] == KEYS, scored.meta_info
            extra = {key: scored.non_tensor_batch[key].tolist() for key in KEYS}
            print(function, extra)
            assert scored.batch["rm_scores"].sum(-1).tolist() == [1.0, 0.0, 0.0]
            assert extra["infra"] == [0, 0, 1], extra
            assert extra["cause"] == ["passed", "wrong_answer", "tests_unusable"], extra
            for worker in manager.reward_loop_workers:
                ray.kill(worker)
            away = RewardLoopManager(config(directory, function, socket + ".away"))
            scored = away.compute_rm_score(batch(tokenizer, samples[:1]))
            assert scored.non_tensor_batch["infra"].tolist() == [1]
            for worker in away.reward_loop_workers:
                ray.kill(worker)
    finally:
        ray.shutdown()
    print("verl: 4 passed, 0 failed")


main()
