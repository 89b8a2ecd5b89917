# SPDX-License-Identifier: MIT
"""PyTorch: the engine's numbers, relative steps, projections, conversion, pruning."""

import copy
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import udv
import udv.torch as ut

CLOSE = 1e-6


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def filled(variant="UDV", **how):
    block = ut.UDVLinear(6, 4, width=5, variant=variant, **how)
    with torch.no_grad():
        for p in block.parameters():
            p.add_(0.1 * torch.randn_like(p))
    block.project()
    return block


def engine_block(arrays, variant="UDV", bias=False):
    width, inputs = arrays["U.weight"].shape
    block = ut.UDVLinear(inputs, arrays["V.weight"].shape[0], bias=bias, width=width,
                         variant=variant)
    block.load_state_dict({name: torch.tensor(a) for name, a in arrays.items()})
    return block


@pytest.mark.parametrize("variant", ["UDV", "UDV-ReLU", "UDV-s", "UDV-v1", "UDV-v2", "UV",
                                     "UV-ReLU", "ReLU-constrained", "UDV-ReLU-s",
                                     "UDV-unconstrained"])
@pytest.mark.parametrize("bias", [False, True])
def test_steps_are_those_of_the_engine(variant, bias):
    """The engine after two steps of gradient descent, from the engine after one: forward, gradient
    and projection agree."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)).astype(np.float32), np.arange(40) % 3
    how = dict(test=(X, y), batch=40, optimizer="mbgd", schedule="constant", lr=0.5, hidden=5,
               variant=variant, bias=bias, scaling="none")
    if "preset" in {option["name"] for option in udv._udv.options("train")}:
        how["preset"] = "paper"
    one, two = udv.train(X, y, epochs=1, **how), udv.train(X, y, epochs=2, **how)
    block = engine_block(one.arrays, variant, bias)
    x = torch.tensor(X)
    assert np.abs(block(x).detach().numpy() - one.decision_function(X)).max() < CLOSE
    optimizer = ut.project_after_steps(torch.optim.SGD(block.parameters(), lr=0.5), block)
    torch.nn.functional.cross_entropy(block(x), torch.tensor(y)).backward()
    optimizer.step()
    for name, value in block.state_dict().items():
        assert np.abs(value.numpy() - two.arrays[name]).max() < CLOSE, name


@pytest.mark.parametrize("variant", list(ut.VARIANTS))
def test_projection_is_feasible_and_idempotent(variant):
    block = ut.UDVLinear(6, 4, width=5, variant=variant)
    with torch.no_grad():
        for p in block.parameters():
            p.mul_(-3)
    block.project()
    sets = ut.VARIANTS[variant]
    if sets.U == ut.BALL:
        assert block.U.weight.norm() <= 1 + 1e-6 and block.V.weight.norm() <= 1 + 1e-6
    if sets.U == ut.NEURON_BALLS:
        assert block.U.weight.norm(dim=1).max() <= 1 + 1e-6
        assert block.V.weight.norm(dim=0).max() <= 1 + 1e-6
    if sets.D == ut.NONNEGATIVE:
        assert (block.D.weight >= 0).all()
    before = copy.deepcopy(block.state_dict())
    block.project()
    for name, value in block.state_dict().items():
        assert torch.allclose(value, before[name], atol=1e-7), name


def test_constant_feature_shares_the_ball():
    block = ut.UDVLinear(6, 4, width=5, bias="constant")
    with torch.no_grad():
        block.U.bias.fill_(2)
    block.project()
    norm = math.hypot(float(block.U.weight.norm()), float(block.U.bias.norm()))
    assert norm == pytest.approx(1, abs=1e-6) and block.V.bias is None


def reference_relative(U, w, V, gradients, rates):
    """The same steps in NumPy and double precision."""
    parts, moments = [U.copy(), w.copy(), V.copy()], [[0, 0] for _ in range(3)]
    for t, (gs, lr) in enumerate(zip(gradients(parts), rates)):
        for k, g in enumerate(gs):
            m, v = moments[k]
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            moments[k] = [m, v]
            d = (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(v / (1 - 0.999 ** (t + 1))) + 1e-12)
            scale = parts[1].mean() if k == 1 else 1 / math.sqrt(parts[k].size)
            parts[k] = parts[k] - lr * scale * d
        parts[0] /= max(1, np.linalg.norm(parts[0]))
        parts[1] = np.maximum(parts[1], 0)
        parts[2] /= max(1, np.linalg.norm(parts[2]))
    return parts


def test_relative_steps():
    block = filled().double()
    X, Y = torch.randn(30, 6).double(), torch.randn(30, 4).double()
    start = [p.detach().numpy().copy() for p in (block.U.weight, block.D.weight, block.V.weight)]

    def gradients(parts):
        x, y = X.numpy(), Y.numpy()
        for _ in range(5):
            U, w, V = parts
            H = x @ U.T
            E = 2 * (H * w @ V.T - y) / y.size
            yield [(E @ V * w).T @ x, ((E @ V) * H).sum(0), E.T @ (H * w)]

    optimizer = ut.RelativeAdam(block)
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(block(X), Y).backward()
        optimizer.step()
    wanted = reference_relative(*start, gradients, [0.575 / math.sqrt(t + 100) for t in range(5)])
    for p, expected in zip((block.U.weight, block.D.weight, block.V.weight), wanted):
        assert np.abs(p.detach().numpy() - expected).max() < CLOSE


def test_relative_steps_are_those_of_the_engine():
    """A step of length 1e-30 shows where the engine starts."""
    if "max_steps" not in {option["name"] for option in udv._udv.options("train")}:
        pytest.skip("this engine has no relative steps")
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 6)).astype(np.float32), np.arange(40) % 3
    how = dict(test=(X, y), batch="all", optimizer="relative", schedule="root", hidden=5,
               variant="UDV", bias="none", scaling="none", validation_share=0, average="off",
               label_smoothing=0)
    start = udv.train(X, y, lr=1e-30, max_steps=1, **how)
    wanted = udv.train(X, y, lr=0.0575, max_steps=4, **how)
    block = engine_block(start.arrays)
    optimizer = ut.RelativeAdam(block)
    for _ in range(4):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(block(torch.tensor(X)), torch.tensor(y)).backward()
        optimizer.step()
    for name, value in block.state_dict().items():
        scale = max(1.0, np.abs(wanted.arrays[name]).max())
        assert np.abs(value.numpy() - wanted.arrays[name]).max() < 10 * CLOSE * scale, name


def train_on_digits(model, optimizer, steps=300):
    sklearn = pytest.importorskip("sklearn.datasets")
    digits = sklearn.load_digits()
    X = torch.tensor(digits.data / 16, dtype=torch.float32)
    y = torch.tensor(digits.target)
    for _ in range(steps):
        which = torch.randint(len(X), (128,))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(X[which]), y[which]).backward()
        optimizer.step()
    return X, y


def accuracy(model, X, y):
    with torch.no_grad():
        return float((model(X).argmax(1) == y).float().mean())


def test_relative_adam_trains_and_resumes():
    model = torch.nn.Sequential(ut.UDVLinear(64, 64, width=32, variant="UDV-ReLU",
                                             bias="constant"), torch.nn.Linear(64, 10))
    with torch.no_grad():
        model[0].D.weight.fill_(8)
    optimizer = ut.RelativeAdam(model, lr_other=1e-2, average=True)
    X, y = train_on_digits(model, optimizer)
    assert accuracy(model, X, y) > 0.95
    raw = model[0].U.weight.detach().clone()
    with optimizer.averaged():
        assert accuracy(model, X, y) > 0.95
        assert not torch.equal(raw, model[0].U.weight)
    assert torch.equal(raw, model[0].U.weight)
    twin = copy.deepcopy(model)
    again = ut.RelativeAdam(twin, lr_other=1e-2, average=True)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for m, o in ((model, optimizer), (twin, again)):
        o.zero_grad()
        torch.nn.functional.cross_entropy(m(X), y).backward()
        o.step()
    assert torch.equal(model[0].U.weight, twin[0].U.weight)


def test_convert_keeps_the_function():
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    x = torch.randn(20, 6)
    before = model(x)
    assert ut.convert(model, "2") == ["2"]
    assert isinstance(model[2], ut.UDVLinear) and isinstance(model[0], torch.nn.Linear)
    assert (model(x) - before).abs().max() < 1e-5
    block = model[2]
    assert float(block.U.weight.norm()) == pytest.approx(1, abs=1e-5)
    assert block.D.weight.std() < 1e-4 * block.D.weight.mean()
    assert (block.merged()(x @ torch.zeros(6, 8)) - block(x @ torch.zeros(6, 8))).abs().max() < 1e-5


@pytest.mark.parametrize("variant", ["UDV", "UDV-v1", "UV", "UDV-ReLU", "UV-ReLU"])
@pytest.mark.parametrize("bias", [False, True, "constant"])
def test_pruning_to_the_full_width_keeps_the_function(variant, bias):
    block = filled(variant, bias=bias)
    x = torch.randn(20, 6)
    same = block.pruned(rank=5)
    assert (same(x) - block(x)).abs().max() < 1e-5
    model = torch.nn.Sequential(block)
    assert ut.prune(model, energy=0.9)["0"] <= 5
    assert ut.prune(model, rank=2) == {"0": 2} and model[0].width == 2
    if ut.VARIANTS[variant].U == ut.BALL and bias is False:
        assert model[0].U.weight.norm() <= 1 + 1e-5


def test_pruning_drops_what_is_smallest():
    block = filled()
    x = torch.randn(200, 6)
    s = block.spectrum()
    error = (block.pruned(rank=3).merged().weight - block.merged().weight).double().norm()
    assert error <= math.sqrt(float((s[3:] ** 2).sum())) * float(block.V.weight.norm()) + 1e-6


def test_bad_arguments():
    for call, words in ((lambda: ut.UDVLinear(3, 0), "out_features: 0 found"),
                        (lambda: ut.UDVLinear(3, 3, variant="U"), "variant: 'U' found"),
                        (lambda: ut.UDVLinear(3, 3, bias="no"), "bias: 'no' found"),
                        (lambda: ut.RelativeAdam(ut.UDVLinear(3, 3), lr=-1), "lr: -1 found"),
                        (lambda: ut.UDVLinear(3, 3).pruned(), "one of rank and energy"),
                        (lambda: ut.UDVLinear(3, 3)(torch.zeros(2, 4)), "4 features found"),
                        (lambda: ut.convert(torch.nn.Linear(3, 3)), "a single layer found"),
                        (lambda: ut.UDVLinear.from_linear(torch.nn.Linear(3, 3), width=9),
                         "width: 9 found")):
        with pytest.raises(ValueError, match=words):
            call()


def test_start_weight():
    G = torch.diag(torch.tensor([3.0, 1.0]))
    assert ut.start_weight(1.5, G) == pytest.approx(0.5)
    assert ut.start_weight(1.0, torch.zeros(2, 2)) == 1.0


def test_models_of_the_engine_load():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6))
    model = udv.train(X, X[:, :2] @ np.ones((2, 1)), hidden=5, epochs=3, scaling="none",
                      target_scaling="none", variant="UDV", bias=False)
    block = engine_block(model.arrays)
    ours = block(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert np.abs(ours - model.decision_function(X)).max() < CLOSE
