# SPDX-License-Identifier: MIT
"""LoRA-UDV adapters in peft, trained by transformers on a tiny LLaMA."""

import pytest

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

from udv.peft import GainLinear, lora_udv
from udv.torch import RelativeAdam, blocks


@pytest.fixture
def tiny():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=32)
    return transformers.LlamaForCausalLM(config)


def batch():
    tokens = torch.arange(32).repeat(8, 1) % 7
    return {"input_ids": tokens, "labels": tokens}


def train(model, callback, tmp_path):
    data = [{name: value[0] for name, value in batch().items()}] * 64
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"), per_device_train_batch_size=8, num_train_epochs=4,
        learning_rate=0.02, report_to=[], save_strategy="no", disable_tqdm=True, use_cpu=True)
    transformers.Trainer(model=model, args=arguments, train_dataset=data,
                         callbacks=[callback]).train()


def test_trainer_and_plain_files(tiny, tmp_path):
    base = {name: value.clone() for name, value in tiny.state_dict().items()}
    model, callback = lora_udv(tiny, r=4, target_modules=["q_proj", "v_proj"])
    assert any(isinstance(module, GainLinear) for _, module in blocks(model))
    with torch.no_grad():
        before = float(model(**batch()).loss)
    train(model, callback, tmp_path)
    with torch.no_grad():
        after = float(model(**batch()).loss)
        logits = model(**batch()).logits
    assert after < before
    for _, module in blocks(model):
        for part in module.udv_parts():
            if part.weight.dim() == 2:
                assert part.weight.norm() <= 1 + 1e-5
            else:
                assert (part.weight >= 0).all()
    model.save_pretrained(tmp_path / "adapter")
    names = _saved_names(tmp_path / "adapter")
    assert names and all(name.endswith(("lora_A.weight", "lora_B.weight")) for name in names)

    plain = transformers.LlamaForCausalLM(tiny.config)
    plain.load_state_dict(base)
    plain = peft.PeftModel.from_pretrained(plain, tmp_path / "adapter")
    assert not any(isinstance(module, GainLinear) for module in plain.modules())
    with torch.no_grad():
        assert (plain(**batch()).logits - logits).abs().max() < 1e-4
        merged = model.merge_and_unload()
        assert (merged(**batch()).logits - logits).abs().max() < 1e-4


def _saved_names(folder):
    from safetensors import safe_open

    with safe_open(str(folder / "adapter_model.safetensors"), framework="pt") as file:
        return list(file.keys())


def test_relative_steps_on_adapters(tiny):
    model, _ = lora_udv(tiny, r=4, target_modules=["q_proj", "v_proj"])
    optimizer = RelativeAdam(model)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = model(**batch()).loss
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
