# SPDX-License-Identifier: MIT
"""NumPy's full SVD of UD, in seconds, and how far our singular values are off: full_svd.py UD.npy VALUES.npy"""
import sys
import time

import numpy as np

M, ours = np.load(sys.argv[1]), np.load(sys.argv[2])
begin = time.perf_counter()
values = np.linalg.svd(M)[1]
seconds = time.perf_counter() - begin
error = np.abs(np.linalg.svd(M.astype(np.float64), compute_uv=False) - ours).max() / values[0]
print(f"{seconds:.3f},{error:.2e}")
