// SPDX-License-Identifier: MIT
// All tests, one after the other in one process: they measure times, so they must not disturb each other.
import './texts.test.mjs';
import './report.test.mjs';
import './access.test.mjs';
import './hostile.test.mjs';
import './many.test.mjs';
import './watch.test.mjs';
import './produced.test.mjs';
import './screens.test.mjs';
