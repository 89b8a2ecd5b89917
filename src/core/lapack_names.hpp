// SPDX-License-Identifier: MIT
#pragma once

#include <complex>

/// Fortran's names of LAPACK, as OpenBLAS exports them; no Debian header declares them.
extern "C" {

using udv_complex = std::complex<double>;
using udv_complex_float = std::complex<float>;

void dgeqrf_(const int* rows, const int* cols, double* A, const int* stride, double* scales,
             double* work, const int* work_size, int* info);
void zgeqrf_(const int* rows, const int* cols, udv_complex* A, const int* stride,
             udv_complex* scales, udv_complex* work, const int* work_size, int* info);

void dormqr_(const char* side, const char* form, const int* rows, const int* cols,
             const int* reflections, const double* A, const int* stride, const double* scales,
             double* C, const int* C_stride, double* work, const int* work_size, int* info);
void zunmqr_(const char* side, const char* form, const int* rows, const int* cols,
             const int* reflections, const udv_complex* A, const int* stride,
             const udv_complex* scales, udv_complex* C, const int* C_stride, udv_complex* work,
             const int* work_size, int* info);

void dgesvj_(const char* structure, const char* left, const char* right, const int* rows,
             const int* cols, double* A, const int* stride, double* values, const int* V_rows,
             double* V, const int* V_stride, double* work, const int* work_size, int* info);
void zgesvj_(const char* structure, const char* left, const char* right, const int* rows,
             const int* cols, udv_complex* A, const int* stride, double* values, const int* V_rows,
             udv_complex* V, const int* V_stride, udv_complex* work, const int* work_size,
             double* real_work, const int* real_work_size, int* info);

void dgesdd_(const char* job, const int* rows, const int* cols, double* A, const int* stride,
             double* values, double* U, const int* U_stride, double* Vt, const int* Vt_stride,
             double* work, const int* work_size, int* whole_work, int* info);
void zgesdd_(const char* job, const int* rows, const int* cols, udv_complex* A, const int* stride,
             double* values, udv_complex* U, const int* U_stride, udv_complex* Vt,
             const int* Vt_stride, udv_complex* work, const int* work_size, double* real_work,
             int* whole_work, int* info);

void dsyevd_(const char* job, const char* triangle, const int* n, double* A, const int* stride,
             double* values, double* work, const int* work_size, int* whole_work,
             const int* whole_work_size, int* info);
void zheevd_(const char* job, const char* triangle, const int* n, udv_complex* A, const int* stride,
             double* values, udv_complex* work, const int* work_size, double* real_work,
             const int* real_work_size, int* whole_work, const int* whole_work_size, int* info);

void dstev_(const char* job, const int* n, double* diagonal, double* beside, double* vectors,
            const int* stride, double* work, int* info);

void dgesv_(const int* n, const int* right_sides, double* A, const int* stride, int* exchanges,
            double* B, const int* B_stride, int* info);

void spotrf_(const char* triangle, const int* n, float* A, const int* stride, int* info);
void dpotrf_(const char* triangle, const int* n, double* A, const int* stride, int* info);
void cpotrf_(const char* triangle, const int* n, udv_complex_float* A, const int* stride,
             int* info);
void zpotrf_(const char* triangle, const int* n, udv_complex* A, const int* stride, int* info);
}
