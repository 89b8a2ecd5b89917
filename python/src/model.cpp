// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <pybind11/stl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arrays.hpp"
#include "core/require.hpp"
#include "running.hpp"
#include "udv/jobs/run_folder.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/figures.hpp"
#include "udv/net/prediction.hpp"

namespace udv::python {
namespace {

// A file in memory alone, with a path as all files have one.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : file_(memfd_create("model.safetensors", 0)) {
    require<IoError>(file_ >= 0, "model: no file in memory can be made");
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t written = ::write(file_, bytes.data() + at, bytes.size() - at);
      require<IoError>(written > 0, "model: no memory for ", bytes.size(), " bytes");
      at += static_cast<std::size_t>(written);
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

// What its file says is all of a model, in either precision.
template <typename Real>
net::Model<Real> model_of_bytes(const std::string& bytes) {
  return net::read_model<Real>(MemoryFile(bytes).path());
}

// Raw outputs in the units of the target, or one score for each class.
py::array_t<double> predict(TrainedModel& self, const Dense<double>& X) {
  require(X.ndim() == 2, "X: ", X.ndim(), " axes found, rows x features expected");
  const net::Model<double>& model = self.in_double();
  RowMatrix<double> features = to_matrix(X);
  RowMatrix<double> outputs;
  {
    const py::gil_scoped_release free;
    const OneBlasThread one;
    features = net::features_for_model<double>("X", std::move(features), model.preprocessing);
    outputs = net::predictions_of(model, features, "X").outputs;
  }
  return to_array(std::move(outputs));
}

// The same for all rows of a file of the kind that the model was trained on.
py::array_t<double> predict_file(TrainedModel& self, const std::string& path) {
  const net::Model<double>& model = self.in_double();
  RowMatrix<double> outputs;
  {
    const py::gil_scoped_release free;
    const OneBlasThread one;
    const auto data = net::read_for_model<double>(path, "", model.preprocessing, false);
    outputs = net::predictions_of(model, data.X, path).outputs;
  }
  return to_array(std::move(outputs));
}

std::vector<std::string> columns_of(const net::Preprocessing& preprocessing) {
  std::vector<std::string> names;
  for (const net::ColumnCoding& column : preprocessing.columns) names.push_back(column.column);
  return names;
}

template <typename Real>
py::dict arrays_of(const net::Network<Real>& network) {
  py::dict all;
  for (const net::ParameterBlock& block : network.blocks()) {
    py::array_t<Real> array = to_array(RowMatrix<Real>(network.at(block)));
    const bool is_list = block.is_bias || block.kind == net::LayerKind::kDiagonal;
    all[block.name.c_str()] = is_list ? array.attr("reshape")(block.size()) : py::object(array);
  }
  return all;
}

py::dict facts_of_model(const TrainedModel& self) {
  return std::visit(
      [](const auto& model) {
        const net::TrainFigures figures = net::figures_of(model.network);
        const net::Preprocessing& how = model.preprocessing;
        py::dict all;
        all["task"] = how.task == net::Task::kRegression ? "regression" : "classification";
        all["variant"] = model.network.variant().name;
        const net::Sizes& sizes = model.network.sizes();
        all["sizes"] = py::make_tuple(sizes.inputs, sizes.hidden, sizes.outputs);
        all["classes"] = how.classes;
        all["columns"] = columns_of(how);
        all["spectrum"] = to_array(Vector<double>(figures.spectrum));
        all["stable_rank"] = figures.stable_rank;
        all["effective_rank"] = figures.effective_rank;
        all["rank_99"] = figures.rank_99;
        all["live_width"] = figures.live_width;
        all["parameters"] = figures.parameters;
        all["notes"] = model.notes;
        return all;
      },
      self.model);
}

py::tuple model_state(const TrainedModel& self) {
  const bool is_double = std::holds_alternative<net::Model<double>>(self.model);
  const std::string bytes =
      std::visit([](const auto& model) { return net::model_bytes(model); }, self.model);
  return py::make_tuple(py::bytes(bytes), is_double);
}

std::shared_ptr<TrainedModel> model_from_state(const py::tuple& state) {
  require(state.size() == 2, "pickle: ", state.size(), " parts found, 2 expected");
  const std::string bytes = state[0].cast<py::bytes>();
  return state[1].cast<bool>() ? trained(model_of_bytes<double>(bytes))
                               : trained(model_of_bytes<float>(bytes));
}

std::shared_ptr<TrainedModel> load(const std::string& path) {
  return trained(net::read_model<float>(jobs::model_path(path)));
}

void save(const TrainedModel& self, const std::string& path) {
  std::visit([&](const auto& model) { net::write_model(path, model); }, self.model);
}

}  // namespace

const net::Model<double>& TrainedModel::in_double() {
  if (const auto* const own = std::get_if<net::Model<double>>(&model)) return *own;
  if (!exact)
    exact = std::make_shared<net::Model<double>>(
        model_of_bytes<double>(net::model_bytes(std::get<net::Model<float>>(model))));
  return *exact;
}

net::Model<float> TrainedModel::in_float() const {
  if (const auto* const own = std::get_if<net::Model<float>>(&model)) return *own;
  return model_of_bytes<float>(net::model_bytes(std::get<net::Model<double>>(model)));
}

const net::Preprocessing& TrainedModel::preprocessing() const {
  return std::visit([](const auto& m) -> const net::Preprocessing& { return m.preprocessing; },
                    model);
}

std::shared_ptr<TrainedModel> trained(net::Model<float> model) {
  return std::make_shared<TrainedModel>(TrainedModel{std::move(model)});
}
std::shared_ptr<TrainedModel> trained(net::Model<double> model) {
  return std::make_shared<TrainedModel>(TrainedModel{std::move(model)});
}

void bind_models(py::module_& m) {
  py::class_<TrainedModel, std::shared_ptr<TrainedModel>>(m, "Model")
      .def_static("load", load)
      .def("save", save)
      .def("predict", predict)
      .def("predict_file", predict_file)
      .def_property_readonly("facts", facts_of_model)
      .def_property_readonly("arrays",
                             [](const TrainedModel& self) {
                               return std::visit(
                                   [](const auto& model) { return arrays_of(model.network); },
                                   self.model);
                             })
      .def(py::pickle(&model_state, &model_from_state));
}

}  // namespace udv::python
