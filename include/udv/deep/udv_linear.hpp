// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "udv/deep/tensor_module.hpp"
#include "udv/net/network.hpp"
#include "udv/net/prune.hpp"

namespace udv::deep {

struct UDVLinearOptions {
  Index inputs = 1, outputs = 1, width = 1;
  std::string variant = "UDV";  ///< any of net::variants()
  bool bias = false;            ///< of every dense layer
  bool pixels = false;          ///< a 1 x 1 convolution: acts on the channels of N x C x H x W
  Index stride = 1;             ///< of that convolution
};

/// What to keep of a block: so many neurons, or as many as carry this share of the energy of UD.
struct PruneTarget {
  Index rank = 0;
  double energy = 0;

  static PruneTarget of_rank(Index rank) { return {rank, 0}; }
  static PruneTarget of_energy(double energy) { return {0, energy}; }
};

/// A head of net as a module of LibTorch: y = V diag(w) U x for UDV, with the layers, constraint
/// sets and names (U.weight, D.weight, V.weight, ...) that net has for the variant. The diagonal is
/// taken into the smaller neighbour, y = (V diag(w)) (U x), where a batch is larger than that: no
/// pass over the hidden values. Inputs of half precision are worked on as such, whatever the type
/// of the weights: single precision weights are then those of mixed precision.
class UDVLinearImpl : public TensorModule {
 public:
  /// Weights as nn.Linear has them, w = 1, then the constraint sets. Throws InvalidArgument.
  explicit UDVLinearImpl(const UDVLinearOptions& options);
  UDVLinearImpl(Index inputs, Index outputs, Index width, const std::string& variant = "UDV");
  /// The same weights.
  explicit UDVLinearImpl(const net::Network<float>& network, bool pixels = false, Index stride = 1);

  torch::Tensor forward(torch::Tensor x) override;

  /// Puts every array back into its constraint set, on its device and without waiting for it.
  void project();

  /// Singular values of UD (net::representation), largest first: a CPU tensor of doubles.
  torch::Tensor spectrum() const;

  /// The smaller block with the same kind of weights; net's rule, of paper or balanced form.
  std::shared_ptr<UDVLinearImpl> prune(const PruneTarget& keep,
                                       net::PruneForm form = net::PruneForm::kPaper) const;

  /// One dense layer with the same function, outputs x inputs. Throws InvalidArgument where the
  /// middle is not linear.
  torch::nn::Linear merge() const;

  /// The weights as net has them, and back; sizes, variant and biases have to be the same.
  net::Network<float> to_network() const;
  void load(const net::Network<float>& network);

  const UDVLinearOptions& options() const { return options_; }
  const net::Variant& variant() const { return *variant_; }
  /// One array of parameters with its constraint set.
  struct Array {
    net::ParameterBlock block;
    torch::Tensor values;  ///< as registered: rows x cols, or a list for D and biases
  };
  const std::vector<Array>& arrays() const { return arrays_; }
  const torch::Tensor* find(const std::string& name) const;

 private:
  void make_arrays();
  torch::Tensor apply(const std::string& layer, const torch::Tensor& W, torch::Tensor x) const;

  UDVLinearOptions options_;
  const net::Variant* variant_;
  std::vector<Array> arrays_;
  bool one_product_ = false;  // y = V diag(w) U x and nothing else
  torch::Tensor counters_;    // of a GPU's kernel
};
TORCH_MODULE(UDVLinear);

/// A dense layer as a block by its SVD, with equal w and the norms of U and V at their bounds: the
/// same function where the width is min(inputs, outputs), the best one of its rank otherwise; width
/// 0 is full. Throws InvalidArgument for variants with ReLU.
std::shared_ptr<UDVLinearImpl> udv_from_weights(const torch::Tensor& W, const torch::Tensor& bias,
                                                UDVLinearOptions options);
std::shared_ptr<UDVLinearImpl> udv_from_linear(const torch::nn::Linear& linear, Index width = 0,
                                               const std::string& variant = "UDV");

struct ReplaceOptions {
  std::string variant = "UDV";
  Index width = 0;         ///< at most; 0: full
  double width_share = 1;  ///< of min(inputs, outputs)
};

/// Every Dense and every 1 x 1 Convolution whose name fits the pattern (* stands for any text)
/// becomes a block with its weights. Returns the names, in order.
std::vector<std::string> replace_linears(TensorModule& module, const std::string& pattern,
                                         const ReplaceOptions& options = {});

/// All blocks in a module, by name.
std::vector<std::pair<std::string, std::shared_ptr<UDVLinearImpl>>> udv_blocks(
    const torch::nn::Module& module);

/// Replaces every block by its pruned one. Returns how many neurons each has kept.
std::map<std::string, Index> prune_blocks(TensorModule& module, const PruneTarget& keep);

/// Projects all blocks of a model in one pass: the arrays of all Frobenius balls lie in one piece
/// of memory (values of the modules become views of it), so that norms and divisions are a handful
/// of kernels however many blocks there are. Nothing waits for the device.
class Projector {
 public:
  Projector() = default;
  explicit Projector(const torch::nn::Module& module);
  explicit Projector(std::vector<std::shared_ptr<UDVLinearImpl>> blocks);

  void project();
  size_t num_blocks() const { return blocks_.size(); }

 private:
  /// Arrays of one device and type in one piece of memory, rows of kRow numbers.
  struct Shared {
    std::vector<torch::Tensor> members;
    std::vector<const void*> addresses;
    torch::Tensor memory;
    torch::Tensor table;            // one line per array: its rows, then a row of zeros
    torch::Tensor owner;            // of each row
    torch::Tensor pieces, squares;  // for the device's own kernels
    bool equal = false;             // all arrays have the same number of rows
  };
  static void add(const torch::Tensor& values, std::vector<Shared>& groups);
  static void share(Shared& group);
  static void project_balls(const Shared& group);
  void gather();
  bool moved() const;

  std::vector<std::shared_ptr<UDVLinearImpl>> blocks_;
  std::vector<Shared> balls_, nonnegative_;    // one per device and type
  std::vector<torch::Tensor> rows_, columns_;  // |w_j| <= 1
};

}  // namespace udv::deep
