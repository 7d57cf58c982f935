// Tensor operations of the encoder on SIMD128. A linear layer runs on the host's
// kernels (mneme_nn) when the host has them and on the loops here otherwise.
#ifndef TENSOR_H
#define TENSOR_H
#include "mneme.h"

// A linear layer: y = x W^T + b, W int8 with a scale per output.
typedef struct {
	u32 n, k, handle;        // outputs; inputs; the host's handle, 0 for our own loops
	i8 *w;                   // panels [n/2][k/8][2][8]
	f32 *scale, *bias;
} linear;

enum { ACT_NONE, ACT_GELU };

// linear_open reads NAME.weight, NAME.scale and NAME.bias. k is a multiple of 16.
int linear_open(linear *l, const char *name, u32 n, u32 k);
// workspace_open reserves the scratch memory of the loops for the widest layer and longest text.
int workspace_open(u32 k, u32 window, u32 head_dim);
enum { RUN_OK, RUN_STOPPED, RUN_FAILED };

// linear_run computes y[rows][n] from x[rows][k]. RUN_STOPPED when the host asks to
// stop, RUN_FAILED when its kernel fails. The loops poll about every millisecond:
// between polls the host can neither stop nor interrupt a module.
int linear_run(const linear *l, const f32 *x, u32 rows, f32 *y, u32 act);
// linear_max computes y[n], the largest of each output over the rows.
int linear_max(const linear *l, const f32 *x, u32 rows, f32 *y);
// attention computes out[rows][heads*dim] from qkv[rows][3*heads*dim] for texts of the given lengths.
void attention(const f32 *qkv, const u32 *lens, u32 nseq, u32 heads, u32 dim, f32 *out);
#ifdef HOSTED
enum { BIAS_REACH = 128 }; // from this distance on a bias is the same
// attention_bias is added to the scores of each head by the distance of key and query, from -BIAS_REACH to BIAS_REACH;
// NULL: nothing. Our own loops know it, the host's kernel does not.
extern const f32 *attention_bias;
#endif
// add_norm computes x = layernorm(x + r); r may be NULL.
void add_norm(f32 *x, const f32 *r, u32 rows, u32 n, const f32 *w, const f32 *b, f32 eps);

// normalize_rows gives each row of x[rows][n] length 1; a row of zeros stays.
void normalize_rows(f32 *x, u32 rows, u32 n);
f32 dot(const f32 *a, const f32 *b, u32 n);
// max_dot computes out[i] = max_j a_i . b_j over a[rows][n] and b[count][n]; n is a
// multiple of 4, count at least 1.
void max_dot(const f32 *a, u32 rows, const f32 *b, u32 count, u32 n, f32 *out);
// tanh_all replaces x by tanh(x), off by at most 2e-7.
void tanh_all(f32 *x, u32 n);
f32 exponential(f32 x); // e^x for x <= 0
f32 sigmoid(f32 x);
f32 log1p_(f32 x); // ln(1+x) for x >= 0

#ifdef GENERAL
// How the heads of a layer attend: groups of them share keys and values; reach: keys no farther than that
// are seen, 0: all; causal: none that follow.
typedef struct { u32 heads, groups, dim, reach; int causal; } attention_shape;
// attend_all computes out[rows][heads*dim] from qkv[rows][(heads+2*groups)*dim], queries, keys and values side by side.
void attend_all(const attention_shape *a, const f32 *qkv, const u32 *lens, u32 nseq, f32 *out);
// attend_first does that for one text whose rows see the first keys rows alone, at most MAX_KEYS, whatever their reach.
enum { MAX_KEYS = 512 };
void attend_first(const attention_shape *a, const f32 *qkv, u32 rows, u32 keys, f32 *out);
// A layer norm (Ba et al. 2016, arXiv:1607.06450), or of the root mean square (Zhang and Sennrich 2019,
// arXiv:1910.07467), over n values, a multiple of 4; b may be NULL.
typedef struct { u32 n; int root; f32 epsilon, *w, *b; } norm;
// norm_rows computes out = norm(x) of rows that lie stride apart in both; out may be x.
void norm_rows(const norm *l, const f32 *x, u32 rows, u32 stride, f32 *out);
// add_rows computes x += r over n values, a multiple of 4.
void add_rows(f32 *x, const f32 *r, u32 n);
// rotate_row turns the pairs (i, half + i) of each head by the angles whose cosines and then sines are in turn
// (Su et al. 2021, arXiv:2104.09864, in halves); half is a multiple of 4.
void rotate_row(f32 *x, u32 heads, u32 dim, const f32 *turn, u32 half);
typedef enum { GATE_GELU, GATE_GELU_TANH, GATE_SILU } gating;
// gate_rows makes act(a) * g of the rows [a|g] of twice n values (Shazeer 2020, arXiv:2002.05202), in the front of x.
void gate_rows(f32 *x, u32 rows, u32 n, gating act);
f32 cosine_of(f32 angle, f32 *sine); // both of an angle of up to some ten thousand radians
#endif

// load_tensor reads a whole asset into new memory; NULL when absent, of another size, or out of memory.
void *load_tensor(const char *name, u32 bytes);
#endif
