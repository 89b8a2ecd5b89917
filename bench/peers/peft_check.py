# SPDX-License-Identifier: MIT
"""Checks exported models and adapters with the real transformers and peft.

usage: peft_check.py check PACK        PACK/base: model; PACK/prompt.txt; PACK/base.npy: our scores of the prompt;
                                       PACK/NAME/ (adapter) with PACK/NAME.npy for every adapter
       peft_check.py make PACK OUT     makes a LoRA and an AdaLoRA adapter of the base with peft, and their scores
"""
import json
import pathlib
import sys

import numpy
import torch
from peft import AdaLoraConfig, LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(pack):
    model = AutoModelForCausalLM.from_pretrained(pack / "base", dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(pack / "base")
    tokens = tokenizer((pack / "prompt.txt").read_text(), return_tensors="pt").input_ids
    return model, tokens


@torch.no_grad()
def scores(model, tokens):
    return model(input_ids=tokens).logits[0].float().numpy()


def compare(name, found, path):
    ours = numpy.load(path)
    same = found.shape == ours.shape
    report = {"case": name, "shape": list(found.shape), "ours": list(ours.shape)}
    if same:
        report |= {"difference": float(abs(found - ours).max()), "largest": float(abs(ours).max())}
    print(json.dumps(report))
    return same and report["difference"] <= 1e-4


def check(pack):
    good = True
    model, tokens = load(pack)
    good &= compare("base", scores(model, tokens), pack / "base.npy")
    for folder in sorted(path.parent for path in pack.glob("*/adapter_config.json")):
        base, _ = load(pack)
        adapted = PeftModel.from_pretrained(base, folder).eval()
        good &= compare(folder.name, scores(adapted, tokens), pack / f"{folder.name}.npy")
        # Adapters that change nothing would agree as well.
        change = abs(scores(adapted, tokens) - scores(model, tokens)).max()
        print(json.dumps({"case": folder.name, "change": float(change)}))
        good &= bool(change > 1e-3)
    print("all equal" if good else "NOT EQUAL")
    return 0 if good else 1


def make(pack, out):
    torch.manual_seed(0)
    common = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "v_proj"]}
    kinds = {
        "peft-lora": LoraConfig(r=8, lora_alpha=16, **common),
        "peft-rslora": LoraConfig(r=8, lora_alpha=8, use_rslora=True, rank_pattern={"v_proj": 4}, **common),
        "peft-adalora": AdaLoraConfig(init_r=8, target_r=4, lora_alpha=12, total_step=100, **common),
    }
    for name, config in kinds.items():
        base, tokens = load(pack)
        model = get_peft_model(base, config)
        with torch.no_grad():
            for key, values in model.named_parameters():
                if "lora_" in key:
                    values.normal_(0, 0.2)
        model.eval()
        model.save_pretrained(out / name)
        loaded = PeftModel.from_pretrained(load(pack)[0], out / name).eval()
        numpy.save(out / f"{name}.npy", scores(loaded, tokens))
        print(name, sorted(path.name for path in (out / name).iterdir()))
    return 0


def main():
    what, pack = sys.argv[1], pathlib.Path(sys.argv[2])
    sys.exit(check(pack) if what == "check" else make(pack, pathlib.Path(sys.argv[3])))


if __name__ == "__main__":
    main()
