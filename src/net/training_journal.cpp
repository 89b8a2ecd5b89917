// SPDX-License-Identifier: MIT
#include "net/training_journal.hpp"

#include <vector>

#include "core/require.hpp"
#include "net/train_archive.hpp"

namespace udv::net {

/// A part of the journal: its name, and what it found or where it stands.
struct NamedBytes {
  std::string name, bytes;
};

template <typename Archive>
void fields(Archive& archive, NamedBytes& part) {
  archive(part.name, part.bytes);
}

template <typename Archive>
void fields(Archive& archive, Sizes& sizes) {
  archive(sizes.inputs, sizes.hidden, sizes.outputs, sizes.deeper);
}

/// A network as the archive takes it.
template <typename Real>
struct NetworkFields {
  std::string variant;
  Sizes sizes;
  Bias::Kind biases = Bias::kNone;
  Vector<Real> parameters;
};

template <typename Archive, typename Real>
void fields(Archive& archive, NetworkFields<Real>& network) {
  archive(network.variant, network.sizes, network.biases, network.parameters);
}

namespace {

template <typename Real>
std::string start_of_journal() {
  ArchiveWriter writer;
  std::string text = message("trainings ", scalar_name<Real>());
  writer(text);
  return writer.take();
}

template <typename Archive, typename Real>
void figures(Archive& archive, TrainResult<Real>& r) {
  archive(r.history, r.stop, r.test_loss, r.test_accuracy, r.seconds, r.steps, r.best_step,
          r.validation, r.folds, r.on_all_rows, r.temperature);
}

std::vector<NamedBytes> list_of(const std::map<std::string, std::string>& parts) {
  std::vector<NamedBytes> list;
  for (const auto& [name, bytes] : parts) list.push_back({name, bytes});
  return list;
}

std::map<std::string, std::string> map_of(std::vector<NamedBytes> list) {
  std::map<std::string, std::string> parts;
  for (NamedBytes& part : list) parts[part.name] = std::move(part.bytes);
  return parts;
}

bool was_stopped(TrainStop stop) {
  return stop == TrainStop::kInterrupted || stop == TrainStop::kTimeLimit;
}

}  // namespace

template <typename Real>
std::string to_bytes(const TrainResult<Real>& result) {
  const Network<Real>& network = result.network;
  NetworkFields<Real> kept{network.variant().name, network.sizes(), network.biases().kind,
                           network.parameters()};
  TrainResult<Real> copy = result;  // the archive lists members for reading and writing alike
  ArchiveWriter writer;
  writer(kept);
  figures(writer, copy);
  return writer.take();
}

template <typename Real>
TrainResult<Real> train_result_from_bytes(std::string_view bytes) {
  ArchiveReader reader(bytes);
  NetworkFields<Real> kept;
  reader(kept);
  Network<Real> network(variant_named(kept.variant), kept.sizes, Bias(kept.biases));
  require(kept.parameters.size() == network.num_parameters(),
          "checkpoint: ", kept.parameters.size(), " parameters found, ", network.num_parameters(),
          " expected");
  network.parameters() = kept.parameters;
  TrainResult<Real> result{std::move(network), {}, TrainStop::kDone, {}};
  figures(reader, result);
  require(reader.at_end(), "checkpoint: more bytes than expected");
  return result;
}

template <typename Real>
TrainingJournal<Real>::TrainingJournal(const TrainHooks<Real>& hooks)
    : hooks_(hooks), clock_(hooks) {
  read(hooks.resume);
}

// Without parts there is the state of the last training alone.
template <typename Real>
void TrainingJournal<Real>::read(const std::string& bytes) {
  const std::string start = start_of_journal<Real>();
  if (!bytes.starts_with(start)) {
    last_ = bytes;
    return;
  }
  ArchiveReader reader(std::string_view(bytes).substr(start.size()));
  std::vector<NamedBytes> ended, begun;
  reader(ended, begun, last_);
  require(reader.at_end(), "checkpoint: more bytes than expected");
  ended_ = map_of(std::move(ended));
  begun_ = map_of(std::move(begun));
}

template <typename Real>
std::string TrainingJournal<Real>::bytes() const {
  if (ended_.empty() && begun_.empty()) return last_;
  std::vector<NamedBytes> ended = list_of(ended_), begun = list_of(begun_);
  std::string last = last_;
  ArchiveWriter writer;
  writer(ended, begun, last);
  return start_of_journal<Real>() + writer.take();
}

template <typename Real>
Verdict TrainingJournal<Real>::look(IterationRecord record, PartProgress progress) {
  const std::lock_guard lock(mutex_);
  record.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  record.iteration = progress == PartProgress::kShown ? steps_before_ + record.iteration : 0;
  if (progress == PartProgress::kHidden) record.column_sizes = nullptr;
  if (verdict_ == Verdict::kContinue && hooks_.observer) verdict_ = hooks_.observer(record);
  return verdict_;
}

template <typename Real>
TrainHooks<Real> TrainingJournal<Real>::hooks_of(const std::string& name, PartProgress progress) {
  TrainHooks<Real> hooks;
  hooks.observer = [this, progress](const IterationRecord& record) {
    return look(record, progress);
  };
  hooks.save_every_seconds = hooks_.save_every_seconds;
  if (hooks_.save)
    hooks.save = [this, name](const std::string& state) {
      const std::lock_guard lock(mutex_);
      begun_[name] = state;
      hooks_.save(bytes());
    };
  const auto begun = begun_.find(name);
  if (begun != begun_.end()) hooks.resume = begun->second;
  return hooks;
}

template <typename Real>
TrainResult<Real> TrainingJournal<Real>::part(const std::string& name, const Training& training,
                                              PartProgress progress) {
  std::unique_lock lock(mutex_);
  const auto count = [&](const TrainResult<Real>& result) {
    if (progress == PartProgress::kShown) steps_before_ += result.steps;
  };
  if (const auto ended = ended_.find(name); ended != ended_.end()) {
    TrainResult<Real> result = train_result_from_bytes<Real>(ended->second);
    count(result);
    return result;
  }
  const TrainHooks<Real> hooks = hooks_of(name, progress);
  lock.unlock();
  TrainResult<Real> result = training(hooks);
  lock.lock();
  if (was_stopped(result.stop)) {
    if (!stopped_) stopped_ = result;
    return result;
  }
  count(result);
  begun_.erase(name);
  ended_[name] = to_bytes(result);
  if (clock_.due_at_point()) clock_.save([this] { return bytes(); });
  return result;
}

// Where a part was stopped this one must not leave a state: it starts from what the part finds.
template <typename Real>
TrainResult<Real> TrainingJournal<Real>::last(const Training& training) {
  TrainHooks<Real> hooks = hooks_;
  hooks.resume = last_;
  if (stopped_) {
    hooks.save = nullptr;
    hooks.observer = [this](const IterationRecord&) { return verdict_; };
  } else if (hooks_.save) {
    hooks.save = [this](const std::string& state) {
      last_ = state;
      hooks_.save(bytes());
    };
  }
  return training(hooks);
}

#define UDV_INSTANTIATE(Real)                              \
  template class TrainingJournal<Real>;                    \
  template std::string to_bytes(const TrainResult<Real>&); \
  template TrainResult<Real> train_result_from_bytes(std::string_view);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
