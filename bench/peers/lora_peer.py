# SPDX-License-Identifier: MIT
"""LoRA-UDV on transformers' LlamaForCausalLM with random weights: tokens a second and peak memory, beside bench_lora speed.

usage: lora_peer.py [--layers 32] [--batch 8] [--sequence 1024] [--steps 6] [--rank 16] [--no-checkpointing]
"""
import argparse
import json
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM


class Adapted(torch.nn.Module):
    """y = W x + V diag(w) U x with |U|, |V| <= 1 and w >= 0."""

    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear
        device = linear.weight.device
        self.U = torch.nn.Parameter(0.1 * torch.randn(rank, linear.in_features, device=device))
        self.w = torch.nn.Parameter(torch.ones(rank, device=device))
        self.V = torch.nn.Parameter(torch.zeros(linear.out_features, rank, device=device))

    def forward(self, x):
        h = torch.nn.functional.linear(x, self.U.to(x.dtype)) * self.w.to(x.dtype)
        return self.linear(x) + torch.nn.functional.linear(h, self.V.to(x.dtype))

    @torch.no_grad()
    def project(self):
        for W in (self.U, self.V):
            W.div_(torch.linalg.vector_norm(W).clamp_min(1))
        self.w.clamp_min_(0)


def main():
    parser = argparse.ArgumentParser()
    for name, value in [("layers", 32), ("dim", 4096), ("hidden", 11008), ("heads", 32), ("vocabulary", 32000),
                        ("batch", 8), ("sequence", 1024), ("steps", 6), ("rank", 16)]:
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--no-checkpointing", action="store_true")
    o = parser.parse_args()
    config = LlamaConfig(hidden_size=o.dim, intermediate_size=o.hidden, num_hidden_layers=o.layers, num_attention_heads=o.heads,
                         num_key_value_heads=o.heads, vocab_size=o.vocabulary, max_position_embeddings=o.sequence, use_cache=False,
                         attn_implementation="sdpa")
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = LlamaForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    model.requires_grad_(False)
    blocks = []
    for layer in model.model.layers:
        for name in ("q_proj", "v_proj"):
            blocks.append(Adapted(getattr(layer.self_attn, name), o.rank))
            setattr(layer.self_attn, name, blocks[-1])
    if not o.no_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=1e-3)
    tokens = torch.randint(o.vocabulary, (o.steps, o.batch, o.sequence), device="cuda")

    def one_pass():
        for batch in tokens:
            optimizer.zero_grad()
            model(input_ids=batch, labels=batch).loss.backward()
            optimizer.step()
            for block in blocks:
                block.project()
        torch.cuda.synchronize()

    one_pass()
    torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    one_pass()
    seconds = time.perf_counter() - begin
    print(json.dumps({"peer": "transformers", "batch": o.batch, "sequence": o.sequence, "checkpointing": not o.no_checkpointing,
                      "tokens_per_second": round(tokens.numel() / seconds, 1),
                      "peak_memory_gb": round(torch.cuda.max_memory_allocated() / 1e9, 3)}))


if __name__ == "__main__":
    main()
