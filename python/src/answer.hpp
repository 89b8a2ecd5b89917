// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "udv/core/entries.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/prediction.hpp"

namespace udv::python {

/// What Python keeps of a recovery: the result of the job, and the entries it was made from.
template <typename Scalar>
struct Answer {
  jobs::RecoveryResult<Scalar> result;
  std::shared_ptr<const Entries> known;                           ///< nullptr: not a completion
  std::shared_ptr<const DeterminedEntries> determined = nullptr;  ///< made when first asked for
};

template <typename Scalar>
std::shared_ptr<Answer<Scalar>> answer_of(jobs::RecoveryResult<Scalar> result,
                                          std::shared_ptr<const Entries> known = nullptr) {
  auto answer = std::make_shared<Answer<Scalar>>();
  answer->result = std::move(result);
  answer->known = std::move(known);
  return answer;
}

/// Everything but factors and history as a dictionary.
py::dict facts_of(const RecoveryFacts& facts);
/// Columns of history.csv as arrays.
py::dict history_of(const RecoveryFacts& facts);

/// The whole answer as bytes and back: what pickle keeps. Throws InvalidArgument for other bytes.
template <typename Scalar>
std::string to_bytes(const Answer<Scalar>& answer);
template <typename Scalar>
std::shared_ptr<Answer<Scalar>> answer_from_bytes(const std::string& bytes);

}  // namespace udv::python
