/* In: texts that each break exactly one condition of the verifier. Out: Check's count. Refuses: a text that is accepted, or refused for
 * another reason; a message of ir/check/check_shape.c that no text causes. */
#define _GNU_SOURCE
#include "ir/check/check.h"
#include "ir/ir.h"
#include "tests/ir/ir_golden.h"

typedef struct check_test {
    attempt t;
    const char *text;
    void (*change)(ir_graph *p);
} check_test;

#define HEAD "ir 1 t\ntype f32\nlevel none\ndim  M = 2 in 1..9\ndim  L = 3 in 1..9\n"
#define DECLARED \
    "in %x f32[M,4]\nin %xl f32[L,4]\nin %x5 f32[M,5]\nin %x0 f32[1,4]\nin %x1 f32[M,1]\nin %h bf16[M,4]\nin %x3 f32[M,3,4]\n" \
    "in %x33 f32[3,3,4]\n" \
    "in %big f32[1048576,1048576]\nin %f f32[4]\nin %f5 f32[5]\nin %c f32[1]\npar %w f32[6,4]\npar %w3 f32[1,6,4]\npar %o f32[6]\n" \
    "par %p f32[4]\npar %w8 f32[8,4]\npar %w1 f32[1,4]\npar %w44 f32[4,4]\nin %wi f32[6,4]\nin %x11 f32[1,1,1,M,4]\nin %x13 f32[M,3]\n" \
    "par %wr f32[6,1]\npar %wrh bf16[6,1]\n" \
    "in %k1 f32[M,1,4]\nin %k22 f32[M,2,4]\nin %n i32[M]\nin %n3 i32[3]\nin %nn i32[M,1]\n" \
    "in %a4 f32[M,3,4]\nin %b4 f32[M,4,5]\nin %b4h bf16[M,4,5]\nin %b4t f32[M,5,4]\nin %b3 f32[3,4,5]\n" \
    "in %q f32[M,3,8]\nin %q4 f32[M,3,4,2]\nin %k f32[M,5,4]\nin %k2 f32[M,7,4]\nin %kb f32[3,5,4]\nin %kh bf16[M,5,4]\n" \
    "in %kd f32[M,5,6]\nin %k4 f32[M,5,2,2]\n" \
    "state %s f32[M,2,8,2]\nstate %t f32[M,2,8,2]\nstate %sl f32[M,2,6,2]\nstate %sk f32[M,4,8,2]\nstate %sd f32[M,2,8,4]\n" \
    "state %sb f32[3,2,8,2]\nstate %s3 f32[M,8,4]\nstate %sv f32[M,L,8,2]\nstate %s1 f32[1,2,8,2]\nin %k11 f32[1,1,4]\nin %n1 i32[1]\n" \
    "in %m2 f32[3,4]\nin %m4 f32[3,4,3,5]\n\n"
#define RANKS_OF_MATMUL "shapes: matmul %y: the operands need at least two axes each, and the result as many as the operand with more axes"
#define KEPT "%kc f32[M,2,8,2] in %s+0/2 = kv_append %k at=%n state=%s #0\n"
#define ROPE "= rope %x heads=2 pairing=half theta=1 rotary=2 "
#define SIZES "heads=4 kv_heads=2 scale=1 "
#define PARTIAL(out) "%y " out " = attention_partial %q, %s, %t " SIZES "at=%n #0\n"
#define PART "%part f32[M,3,4,4] = attention_partial %q, %s, %t " SIZES "at=%n #0\n"

#define COLUMNS "    body %y f32[M,1,8] = column_sum %q axis=1 #0\n"

/* Broken ops over the values above: the op's line, and the message. */
static const struct {
    const char *ops, *message;
} wrong[] = {
    /* what an op needs */
    {"%y f32[M,4], %z f32[M,4] = neg %x #0\n", "attributes: neg %y: more than one result"},
    {"%y f32[M,2,8,2] = kv_append %k state=%s #0\n", "attributes: kv_append %y: at or state is missing"},
    {"%y f32[M,2,8,2] = kv_append %k at=%n #0\n", "attributes: kv_append %y: at or state is missing"},
    {"%y bf16[M,4] = cast %x to=f16 #0\n", "attributes: cast %y: the result has another dtype than `to`"},
    {"%y i32[M,4] = neg %x #0\n", "attributes: neg %y: the result is i32"},
    {"%y i32[M,1], %z f32[M,3] = split %x #0\n", "attributes: split %y: the result is i32"},
    {"%y f32[M,1], %z i32[M,3] = split %x #0\n", "attributes: split %y: the result is i32"},
    {"%y f32[M,2,8,2] = kv_append %k at=%f state=%s #0\n", "attributes: kv_append %y: at is not an i32[B] input, param or state"},
    {"%y f32[M,2,8,2] = kv_append %k at=%nn state=%s #0\n", "attributes: kv_append %y: at is not an i32[B] input, param or state"},
    {"%i i32[4] = cast %f to=i32 #0\n%y f32[M,2,8,2] = kv_append %k at=%i state=%s #0\n",
     "attributes: kv_append %y: at is not an i32[B] input, param or state"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "lengths=%f #0\n",
     "attributes: attention %y: lengths is not an i32[B] input, param or state"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "lengths=%nn #0\n",
     "attributes: attention %y: lengths is not an i32[B] input, param or state"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "first=%f #0\n",
     "attributes: attention %y: first is not an i32[B] input, param or state"},
    {"%y f32[M,1] = neg %nn #0\n", "attributes: neg %y: an operand is i32"},
    {"%y f32[M,1] = add %x1, %nn #0\n", "attributes: add %y: an operand is i32"},
    {"%y f32[M,4] = rope %x pairing=half theta=1 rotary=2 #0\n", "attributes: rope %y: heads is missing"},
    {"%y f32[M,4] = rope %x heads=1048577 pairing=half theta=1 rotary=2 #0\n", "attributes: rope %y: heads is missing"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "causal window=2147483648 #0\n",
     "attributes: attention %y: window is above 2147483647"},
    {"%y f32[M,3,8] = attention %q, %k, %k heads=4 scale=1 #0\n", "attributes: attention %y: kv_heads is missing"},
    {"%y f32[M,3,8] = attention %q, %k, %k heads=4 kv_heads=1048577 scale=1 #0\n", "attributes: attention %y: kv_heads is missing"},
    {"%y f32[M,4] = rope %x heads=2 pairing=half rotary=2 #0\n", "attributes: rope %y: theta is not above 0"},
    {"%y f32[M,4] " ROPE "scaling=linear(0) #0\n", "attributes: rope %y: the scaling's factor is not above 0"},
    {"%y f32[M,4] " ROPE "scaling=llama3(0,1,4,8192) #0\n", "attributes: rope %y: the scaling's factor is not above 0"},
    {"%y f32[M,4] " ROPE "scaling=llama3(8,1,4,0) #0\n", "attributes: rope %y: the scaling's bounds are out of order"},
    {"%y f32[M,4] " ROPE "scaling=llama3(8,0,4,8192) #0\n", "attributes: rope %y: the scaling's bounds are out of order"},
    {"%y f32[M,4] " ROPE "scaling=llama3(8,4,4,8192) #0\n", "attributes: rope %y: the scaling's bounds are out of order"},
    {"%y f32[M,4] " ROPE "scaling=dynamic(0.5,64,128) #0\n", "attributes: rope %y: a dynamic scaling's factor is below 1"},
    {"%y f32[M,4] " ROPE "scaling=yarn(4,64,1,32,1) #0\n", "attributes: rope %y: the scaling's betas are out of order"},
    {"%y f32[M,4] " ROPE "scaling=yarn(4,64,32,1,2) #0\n", "attributes: rope %y: the scaling's bounds are out of order"},
    {"%y f32[M,4] " ROPE "scaling=yarn(4,64,32,1,1) #0\n", "attributes: rope %y: yarn takes a base above 1"},
    {"%y f32[M,4] " ROPE "scaling=longrope(1,2) #0\n", "attributes: rope %y: longrope needs one factor for each rotated pair of elements"},
    {"%y f32[M,4] " ROPE "scaling=longrope(0) #0\n", "attributes: rope %y: a factor of the scaling is not above 0"},
    {"%y f32[M,4] " ROPE "scaling=proportional(2,1) #0\n", "attributes: rope %y: the scaling's share is above 1"},
    {"%y f32[M,4] " ROPE "attention_factor=-1 #0\n", "attributes: rope %y: attention_factor is negative"},
    {"%y f32[M,4] = rmsnorm %x eps=1 unit_offset #0\n", "shapes: rmsnorm %y: unit_offset without a weight"},
    {"%y f32[M,3,8] = attention %q, %k, %k heads=4 kv_heads=2 scale=1 alibi=(1,2) #0\n",
     "shapes: attention %y: alibi is not a slope for each head"},
    {"%y f32[M,3,8] = attention %q, %k, %k, %f5 heads=4 kv_heads=2 scale=1 #0\n",
     "shapes: attention %y: sinks are not a param with one number per head"},
    /* elementwise: the result is as large as the largest operand, axis by axis */
    {"%y f32[4] = neg %x #0\n", "shapes: neg %y: the result's rank differs from its operands'"},
    {"%y f32[1,M,4] = add %x, %f #0\n", "shapes: add %y: the result's rank differs from its operands'"},
    {"%y f32[M,4] = add %x, %f5 #0\n", "shapes: add %y: an operand does not broadcast to the result"},
    {"%y f32[M,4] = add %x, %xl #0\n", "shapes: add %y: an operand does not broadcast to the result"},
    {"%y f32[M,4] = add %x0, %x0 #0\n", "shapes: add %y: an axis of the result is in no operand"},
    {"%y f32[M,4] = add %x1, %c #0\n", "shapes: add %y: an axis of the result is in no operand"},
    {"%y f32[M,5]/8 = align %x #0\n", "shapes: align %y: the result has another shape or dtype"},
    {"%y bf16[M,4]/8 = align %x #0\n", "shapes: align %y: the result has another shape or dtype"},
    {"%y f32[M,4]/4 = align %x transpose #0\n", "shapes: align %y: the result is not its operand's transpose"},
    {"%y f32[4,5] = matmul %x, %x5 transpose_a #0\n", "shapes: matmul %y: K, the axis that is summed, is dynamic"},
    {"%y f32[M,5]/6 = align %x5 #0\n", "shapes: align %y: the result's rows are no multiple of 16 bytes"},
    {"%y f32[M,4] = align %x #0\n", "shapes: align %y: the result's rows are no multiple of 16 bytes"},
    {"%y f32[M,5] in %x+0/8 = align %x5 #0\n", "shapes: align %y: the result's rows are no multiple of 16 bytes"},
    {"%y bf16[M,4]/64 = tf32_terms %x transpose #0\n", "shapes: tf32_terms %y: the result has other batches or dtype"},
    {"%y f32[M,5]/64 = tf32_terms %x transpose #0\n", "shapes: tf32_terms %y: the result is not [..., N, K]"},
    {"%y f32[M,4]/8 = tf32_terms %x transpose #0\n", "shapes: tf32_terms %y: the result's row stride is not the length of two terms"},
    {"%y bf16[M,5]/192 = bf16_terms %x #0\n", "shapes: bf16_terms %y: the result is not the operand's terms in bf16"},
    {"%y bf16[M,4]/128 = bf16_terms %x #0\n", "shapes: bf16_terms %y: the result's row stride is not the length of its terms"},
    /* reductions and norms */
    {"%y f32[1] = row_sum 2 #0\n", "shapes: row_sum %y: the result is not [..., 1]"},
    {"%y f32[L,1] = row_sum %x #0\n", "shapes: row_sum %y: the result is not [..., 1]"},
    {"%y f32[M,2] = row_mean %x #0\n", "shapes: row_mean %y: the result is not [..., 1]"},
    {"%y f32[1] = row_mean 2 #0\n", "shapes: row_mean %y: the result is not [..., 1]"},
    {"%y f32[1] = softmax 2 #0\n", "shapes: softmax %y: the result is not shaped as the operand"},
    {"%y f32[M,5] = softmax %x #0\n", "shapes: softmax %y: the result is not shaped as the operand"},
    {"%y f32[L,4] = l2norm %x eps=1 #0\n", "shapes: l2norm %y: the result is not shaped as the operand"},
    {"%y f32[M,5] = rmsnorm %x5, %f eps=1 #0\n", "shapes: rmsnorm %y: a weight is no vector over the last axis"},
    {"%y f32[M,4] = rmsnorm %x, %x0 eps=1 #0\n", "shapes: rmsnorm %y: a weight is no vector over the last axis"},
    {"%y f32[M,4] = layernorm %x, %f, %f5 eps=1 #0\n", "shapes: layernorm %y: a weight is no vector over the last axis"},
    /* rope */
    {"%y f32[M,5] " ROPE "#0\n", "shapes: rope %y: the result is not shaped as the operand, [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[4] = rope %f heads=2 pairing=half theta=1 rotary=2 #0\n",
     "shapes: rope %y: the result is not shaped as the operand, [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[1,1,1,M,4] = rope %x11 heads=2 pairing=half theta=1 rotary=2 #0\n",
     "shapes: rope %y: the result is not shaped as the operand, [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[M,3,4,2] = rope %q4 heads=2 pairing=half theta=1 rotary=2 #0\n", "shapes: rope %y: the third axis is not the heads"},
    {"%y f32[M,3,4,2] = rope %q4 heads=4 pairing=half theta=1 rotary=4 #0\n", "shapes: rope %y: rotary is not even and within a head"},
    {"%y f32[M,3,4,2] = rope %q4 heads=4 pairing=half theta=1 rotary=2 at=%n3 #0\n", "shapes: rope %y: at is not [B]"},
    {"%y f32[M,4] = rope %x heads=3 pairing=half theta=1 rotary=2 #0\n", "shapes: rope %y: heads do not divide the columns"},
    {"%y f32[M,4] = rope %x heads=2 pairing=half theta=1 #0\n", "shapes: rope %y: rotary is not even and within a head"},
    {"%y f32[M,4] = rope %x heads=2 pairing=half theta=1 rotary=4 #0\n", "shapes: rope %y: rotary is not even and within a head"},
    {"%y f32[M,4] = rope %x heads=1 pairing=half theta=1 rotary=3 #0\n", "shapes: rope %y: rotary is not even and within a head"},
    {"%y f32[M,4] " ROPE "at=%n #0\n", "shapes: rope %y: at is not [B]"},
    {"%y f32[M,3,4] = rope %x3 heads=2 pairing=half theta=1 rotary=2 at=%n3 #0\n", "shapes: rope %y: at is not [B]"},
    /* products */
    {"%y f32[6] = linear 2, %w #0\n", "shapes: linear %y: operand, weight and out do not fit"},
    {"%y f32[M,6] = linear %x, %w3 #0\n", "shapes: linear %y: operand, weight and out do not fit"},
    {"%y f32[L,6] = linear %x, %w #0\n", "shapes: linear %y: operand, weight and out do not fit"},
    {"%y f32[M,6] = linear %x5, %w #0\n", "shapes: linear %y: the operand's columns are not the weight's"},
    {"%y f32[M,6] = linear %x, %w layout=in_out #0\n", "shapes: linear %y: the operand's columns are not the weight's"},
    {"%y f32[M,5] = linear %x, %w #0\n", "shapes: linear %y: the result's columns are not the weight's"},
    {"%y f32[M,6] = linear %x, %w, %f #0\n", "shapes: linear %y: the bias is no vector over the result's columns"},
    {"%y f32[M,6] = linear %x, %w, %w #0\n", "shapes: linear %y: the bias is no vector over the result's columns"},
    {"%y f32[M,6] = linear %x, %w fold=%o #0\n", "shapes: linear %y: fold is no vector over the operand's columns"},
    {"%y f32[M,6] = linear %x5, %w continued=%wrh #0\n", "shapes: linear %y: continued is no param of the weight's dtype"},
    {"%y f32[M,6] = linear %x5, %wi continued=%wr #0\n", "shapes: linear %y: continued is no param of the weight's dtype"},
    {"%y f32[M,6] = linear %x5, %w continued=%w1 #0\n", "shapes: linear %y: continued does not compute the same columns of the result"},
    {"%y f32[M,6] = linear %x5, %w continued=%w #0\n", "shapes: linear %y: the operand's columns are not those of both weights"},
    {"%y f32[M,6] = linear %x5, %w, %o continued=%wr #0\n", "shapes: linear %y: a continued weight with a fold or a bias"},
    {"%y f32[M,6] = linear %x5, %w continued=%wr fold=%f5 #0\n", "shapes: linear %y: a continued weight with a fold or a bias"},
    {"%y f32[5] = matmul %f, %f5 #0\n", RANKS_OF_MATMUL},
    {"%y f32[M,3,5] = matmul %a4, %f5 #0\n", RANKS_OF_MATMUL},
    {"%y f32[3,5] = matmul %a4, %b4 #0\n", RANKS_OF_MATMUL},
    {"%y f32[M,3,5] = matmul %a4, %b4h #0\n", "shapes: matmul %y: the operands differ in dtype"},
    {"%y f32[M,3,5] = matmul %a4, %b4t #0\n", "shapes: matmul %y: the operands differ in K, the axis that is summed"},
    {"%y f32[M,3,4] = matmul %a4, %b4 transpose #0\n", "shapes: matmul %y: the operands differ in K, the axis that is summed"},
    {"%y f32[M,3,4] = matmul %a4, %b4 #0\n", "shapes: matmul %y: the result has other rows or columns"},
    {"%y f32[M,3,4] = matmul %a4, %b4t transpose #0\n", "shapes: matmul %y: the result has other rows or columns"},
    {"%y f32[M,2,5] = matmul %a4, %b4 #0\n", "shapes: matmul %y: the result has other rows or columns"},
    {"%y f32[M,3,5] = matmul %a4, %b3 #0\n", "shapes: matmul %y: the batches differ"},
    {"%y f32[M,3,5] = matmul %x33, %b4 #0\n", "shapes: matmul %y: the batches differ"},
    /* attention */
    {"%y f32[M,3,4,2] = attention %q4, %k, %k heads=2 kv_heads=2 scale=1 #0\n", "shapes: attention %y: the third axis is not the heads"},
    {"%y f32[M,3,8] = attention %q, %k, %k heads=3 kv_heads=1 scale=1 #0\n",
     "shapes: attention %y: an operand is not [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[M,4] = attention %x, %k, %k heads=1 kv_heads=1 scale=1 #0\n",
     "shapes: attention %y: an operand is not [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[M,3,8] = attention %q, %k, %k heads=4 kv_heads=3 scale=1 #0\n",
     "shapes: attention %y: an operand is not [B, S, H*hd] or [B, S, H, hd]"},
    {"%y f32[M,3,8] = attention %q, %x, %k " SIZES "#0\n", "shapes: attention %y: keys or values have another batch"},
    {"%y f32[M,3,8] = attention %q, %k, %kb " SIZES "#0\n", "shapes: attention %y: keys or values have another batch"},
    {"%y f32[M,3,8] = attention %q, %kh, %kh " SIZES "#0\n", "shapes: attention %y: queries, keys and values differ in dtype"},
    {"%y f32[M,3,8] = attention %q, %kd, %k " SIZES "#0\n", "shapes: attention %y: heads of queries and keys differ in size"},
    {"%y f32[M,3,8] = attention %q, %k, %kd " SIZES "#0\n",
     "shapes: attention %y: the result's batch, tokens or heads are not those of the queries"},
    {"%y f32[M,3,8] = attention %q, %sk, %sk " SIZES "at=%n #0\n", "shapes: attention %y: the cache is not [B, KV, L, hd]"},
    {"%y f32[M,3,8] = attention %q, %sd, %sd " SIZES "at=%n #0\n", "shapes: attention %y: heads of queries and keys differ in size"},
    {"%y f32[M,3,8] = attention %q, %s3, %s3 " SIZES "at=%n #0\n", "shapes: attention %y: the cache is not [B, KV, L, hd]"},
    {"%y f32[M,3,8] = attention %q, %kd, %kd heads=4 kv_heads=3 scale=1 #0\n", "shapes: attention %y: kv_heads does not divide heads"},
    {"%y f32[M,3,8] = attention %q, %s, %k " SIZES "at=%n #0\n",
     "shapes: attention %y: one of keys and values is a cache, the other is not"},
    {"%y f32[M,3,8] = attention %q, %k, %s " SIZES "#0\n", "shapes: attention %y: one of keys and values is a cache, the other is not"},
    {"%y f32[M,3,8] = attention %q, %k, %k2 " SIZES "#0\n", "shapes: attention %y: not as many keys as values"},
    {"%y f32[M,3,8] = attention %q, %s, %sl " SIZES "at=%n #0\n", "shapes: attention %y: not as many keys as values"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "at=%n #0\n", "shapes: attention %y: at without a cache"},
    {"%y f32[M,3,8] = attention %q, %s, %t " SIZES "#0\n", "shapes: attention %y: a cache without at or lengths"},
    {"%y f32[M,3,8] = attention %q, %s, %t " SIZES "at=%n3 #0\n", "shapes: attention %y: at is not [B]"},
    {"%y f32[M,3,8] = attention %q, %s, %t " SIZES "lengths=%n3 #0\n", "shapes: attention %y: lengths is not [B]"},
    {"%y f32[M,3,8] = attention %q, %s, %t " SIZES "lengths=%n first=%n3 #0\n", "shapes: attention %y: first is not [B]"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "bias=%n #0\n",
     "shapes: attention %y: the bias is not an input or param [S, L], [heads, S, L] or [B, heads, S, L]"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "bias=%k #0\n", "shapes: attention %y: the bias has other queries"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "bias=%q #0\n", "shapes: attention %y: the bias has other heads"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "bias=%m4 #0\n", "shapes: attention %y: the bias has another batch"},
    {"%y f32[M,3,8] = attention %q, %k, %k " SIZES "bias=%m2 #0\n", "shapes: attention %y: the bias has fewer keys than there are"},
    {"%y f32[M,3,4,2] = attention %q, %k, %k " SIZES "#0\n",
     "shapes: attention %y: the result's batch, tokens or heads are not those of the queries"},
    {PARTIAL("f32[M,3,16]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {PARTIAL("bf16[M,3,4,4]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {PARTIAL("f32[L,3,4,4]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {PARTIAL("f32[M,2,4,4]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {PARTIAL("f32[M,3,3,4]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {PARTIAL("f32[M,3,4,2]"), "shapes: attention_partial %y: the result is not f32[B, S, H, hd+2]"},
    {"%y f32[M,3,4] = attention_combine %x3 heads=2 #0\n", "shapes: attention_combine %y: the operand is not f32[B, S, H, hd+2]"},
    {PART "%y f32[M,8] = attention_combine %part heads=4 #1\n", "shapes: attention_combine %y: the operand is not f32[B, S, H, hd+2]"},
    {"%y f32[M,3,8] = attention_combine %q4 heads=4 #0\n", "shapes: attention_combine %y: the operand is not of attention_partial"},
    {"%r f32[M,3,4,2] = neg %q4 #0\n%y f32[M,3,8] = attention_combine %r heads=4 #1\n",
     "shapes: attention_combine %y: the operand is not of attention_partial"},
    {PART "%y f32[L,3,8] = attention_combine %part heads=4 #1\n", "shapes: attention_combine %y: rows differ"},
    {PART "%y f32[M,2,8] = attention_combine %part heads=4 #1\n", "shapes: attention_combine %y: rows differ"},
    {PART "%y f32[M,3,8] = attention_combine %part heads=2 #1\n", "shapes: attention_combine %y: heads differ"},
    {PART "%y f32[M,3,12] = attention_combine %part heads=4 #1\n", "shapes: attention_combine %y: the result is not [B, S, H*hd]"},
    /* caches */
    {"%y f32[M,2,8,2] = kv_append %x at=%n state=%s #0\n", "shapes: kv_append %y: not [B, S, KV*hd] into [B, KV, L, hd]"},
    {"%y f32[M,8,4] = kv_append %k at=%n state=%s3 #0\n", "shapes: kv_append %y: not [B, S, KV*hd] into [B, KV, L, hd]"},
    {"%y f32[M,2,6,2] = kv_append %k at=%n state=%s #0\n", "shapes: kv_append %y: not [B, S, KV*hd] into [B, KV, L, hd]"},
    {KEPT "%y f32[M,2,8,2] = kv_append %k at=%n state=%kc #0\n", "shapes: kv_append %y: the state is not declared as one"},
    {"%y f32[M,3,4,2] = kv_append %k at=%n state=%q4 #0\n", "shapes: kv_append %y: the state is not declared as one"},
    {"%y f32[M,L,8,2] = kv_append %k at=%n state=%sv #0\n", "shapes: kv_append %y: the state's heads are dynamic"},
    {"%y f32[M,2,8,4] = kv_append %k at=%n state=%sd #0\n", "shapes: kv_append %y: head sizes differ"},
    {"%y f32[3,2,8,2] = kv_append %k at=%n state=%sb #0\n", "shapes: kv_append %y: batches differ"},
    {"%y f32[M,2,8,2] = kv_append %k at=%n3 state=%s #0\n", "shapes: kv_append %y: batches differ"},
    {"%y bf16[M,2,8,2] = kv_append %k at=%n state=%s #0\n", "shapes: kv_append %y: the result has another dtype than its state"},
    {KEPT "%y f32[M,2,8,2] = kv_append %k at=%n state=%s #0\n", "states: %s is written by %kc already"},
    /* moves */
    {"%y f32[1] = slice 2 #0\n", "shapes: slice %y: the result has other rows"},
    {"%y f32[L,2] = slice %x #0\n", "shapes: slice %y: the result has other rows"},
    {"%y bf16[M,2] = slice %x #0\n", "shapes: slice %y: the result has other rows"},
    {"%y f32[M,2] = slice %x offset=3 #0\n", "shapes: slice %y: the slice reaches beyond its operand"},
    {"%y f32[M,5] = slice %x #0\n", "shapes: slice %y: the slice reaches beyond its operand"},
    {"%y f32[1] = split 2 #0\n", "shapes: split %y: a result has other rows"},
    {"%y f32[M,1], %z f32[L,3] = split %x #0\n", "shapes: split %y: a result has other rows"},
    {"%y f32[M,1], %z bf16[M,3] = split %x #0\n", "shapes: split %y: a result has another dtype"},
    {"%y f32[M,1], %z f32[M,2] = split %x #0\n", "shapes: split %y: the results do not add up to the operand"},
    {"%y f32[M,8] = concat %x, %xl #0\n", "shapes: concat %y: an operand has other rows"},
    {"%y f32[M,8] = concat %x, %h #0\n", "shapes: concat %y: dtypes differ"},
    {"%y f32[M,8] = concat %x, %x5 #0\n", "shapes: concat %y: the operands do not add up to the result"},
    {"%y f32[8,3] = permute %q axes=(2,1) #0\n", "shapes: permute %y: axes are not as many as the operand's"},
    {"%y f32[M,3,8] = permute %q axes=(0,1,1) #0\n", "shapes: permute %y: axes must have each axis once"},
    {"%y f32[M,3,8] = permute %q axes=(0,1,3) #0\n", "shapes: permute %y: axes must have each axis once"},
    {"%y f32[M,3,8] = permute %q axes=(0,1,0.5) #0\n", "shapes: permute %y: axes must have each axis once"},
    {"%y f32[M,3,8] = permute %q axes=(1,0,2) #0\n", "shapes: permute %y: the result is not shaped as the permuted operand"},
    {"%y bf16[3,M,8] = permute %q axes=(1,0,2) #0\n", "shapes: permute %y: dtypes differ"},
    {"%y f32[M,3] = sum %q axis=3 #0\n", "shapes: sum %y: there is no such axis"},
    {"%y f32[3,8] = mean %q #0\n", "shapes: mean %y: the axis is dynamic"},
    {"%y f32[M,3,1] = column_sum %q axis=2 #0\n", "shapes: column_sum %y: the axis is the last"},
    {"%y f32[1,1] = column_max %wr #0\n", "shapes: column_max %y: the operand has one column"},
    {"%y f32[M,8] = column_min %q axis=1 #0\n", "shapes: column_min %y: the result has another axis there"},
    {"%y f32[M,3,8] = amax %q axis=1 keepdim #0\n", "shapes: amax %y: the result has another axis there"},
    {"%y f32[M,1,8] = amax %q axis=1 #0\n", "shapes: amax %y: the result has another axis there"},
    {"%y f32[M,3] = amin %q axis=1 #0\n", "shapes: amin %y: the result has other axes"},
    {"%y f32[M,5] = reshape %x #0\n", "shapes: reshape %y: the result has another number of elements"},
    {"%y f32[L,4] = reshape %x #0\n", "shapes: reshape %y: the result has another number of elements"},
    {"%y bf16[M,2,2] = reshape %x #0\n", "shapes: reshape %y: dtypes differ"},
    /* values */
    {"%y f32[M-1,4] = neg %x #0\n", "shapes: %y: an axis may be below 1"},
    {"%y f32[4-M,4] = neg %x #0\n", "shapes: %y: an axis may be below 1"},
    {"%y f32[4,M] = neg %x #0\n", "shapes: %y: the last axis is dynamic"},
    {"%y f32[2147483649] = neg %x #0\n", "shapes: %y is too large"},
    {"%y f32[M*2000000000,4] = neg %x #0\n", "shapes: %y is too large"},
    {"%y f32[1048577,1048576] = neg %x #0\n", "shapes: %y is too large"},
    {"%y f32[2147483648,2147483648,2147483648] = neg %x #0\n", "shapes: %y is too large"},
    /* views */
    {"%y f32[M,4]/3 = neg %x #0\n", "views: %y cannot lie in rows of 3 elements"},
    {"%y f32[M,2] in %f+0/4 = slice %x #0\n", "views: %y reaches beyond its storage %f"},
    {"%y bf16[M,4] in %x+0/4 = cast %x to=bf16 #0\n", "views: %y and its storage %x differ in dtype"},
    {"%y f32[M,2] in %x+3/4 = slice %x #0\n", "views: %y does not fit its rows of 4 elements"},
    {"%y f32[M,4] in %x+0/3 = neg %x #0\n", "views: %y does not fit its rows of 3 elements"},
    {"%y f32[M,2] in %x+0/2 = slice %x #0\n", "views: %y reaches beyond its storage %x"},
    {"%y f32[L,2] in %x+0/4 = slice %xl #0\n", "views: %y reaches beyond its storage %x"},
    {"%z f32[M,5]/8 = align %x5 #0\n%y f32[M,5] in %z+0/5 = neg %z #1\n", "views: %y has rows of 5 elements in %z, whose rows have 8"},
    {"%y f32[M,4] in %x+0/4 = neg %x #0\n", "views: %y is computed into the storage of %x, where it does not lie"},
    {"%z f32[M,4] = neg %x #0\n%y f32[M,4] in %z+0/4 = exp %z #0\n", "views: %y is computed into the storage of %z, where it does not lie"},
    {"%a f32[M,1] in %x+0/4 = slice %x #0\n%b f32[M,3] in %x+1/4 = slice %x offset=1 #0\n%y f32[M,4] in %x+0/4 = concat %a, %b #0\n",
     "views: the view %y joins views"},
    {"%z f32[M,4] in %x+0/4 = neg %x #0\n%y f32[M,2] in %z+0/4 = slice %z #1\n", "ids: %y lives in %z, which is a view itself"},
};

#define KERNEL(name, family, ops) "kernel " name " {\n  phase " name "p : " family " {\n" ops "  }\n}\n"
#define PHASE(family, ops) KERNEL("k0", family, ops)
#define NEG "    body %y f32[M,4] = neg %x #0\n"
#define LINEAR(out, x, w) "    body %" out " f32[M,6] = linear %" x ", %" w " #0\n"
#define Q8(out, attributes) "    body %" out " f32[M,8] = linear %x, %w8" attributes " #0\n"
#define TURNED(out, x, attributes) "    epi %" out " f32[M,8] = rope %" x " " attributes " theta=1 #0\n"
#define SUMS KERNEL("k0", "gemm", LINEAR("l", "x", "w") "    epi %ss f32[M,1] = row_sumsq %l #0\n")

/* Broken kernels over the same values: text after the declarations, and the message. */
static const struct {
    const char *kernels, *message;
} wrong_kernels[] = {
    {"kernel k0 {\n}\n", "one-phase: kernel k0 has no phase"},
    {"kernel k0 {\n  phase p : rows {\n  }\n}\n", "one-phase: phase p has no op"},
    /* lowered */
    {PHASE("rows", "    body %y f32[M,4] = softmax %x #0\n"), "lowered: softmax is for graphs; a kernel holds what lowering makes of it"},
    {PHASE("rows", "    body %y f32[M,1], %z f32[M,3] = split %x #0\n"),
     "lowered: split is for graphs; a kernel holds what lowering makes of it"},
    {PHASE("rows", "    body %y f32[M,4] = split %x #0\n"), "lowered: split is for graphs; a kernel holds what lowering makes of it"},
    {PHASE("gemm", "    body %y f32[M,6] = linear %x, %w, %o #0\n"),
     "lowered: linear is for graphs; a kernel holds what lowering makes of it"},
    /* order */
    {PHASE("rows", "    epi %z f32[M,4] = neg %x #0\n" NEG), "roles: roles are out of order at %y"},
    {PHASE("rows", NEG) KERNEL("k1", "rows", "    body %z f32[M,4] = neg %y #1\n"),
     "after: phase k1p reads %y but does not come after k0p"},
    {PHASE("rows", NEG "    epi %v f32[M,2] in %y+2/4 = slice %y offset=2 #0\n") KERNEL("k1", "rows", "    body %z f32[M,2] = neg %v #1\n"),
     "after: phase k1p reads %v but does not come after k0p"},
    {PHASE("rows", NEG)
         KERNEL("k1", "rows after k0p", "    pro %v f32[M,2] in %y+2/4 = slice %y offset=2 #0\n    body %z f32[M,2] = neg %v #1\n"),
     "after: the view %v is not in phase k0p, which computes it"},
    {PHASE("rows", "    body %kc f32[M,2,8,2] in %s+0/2 = kv_append %k at=%n state=%s #0\n")
         KERNEL("k1", "rows", "    body %z f32[M,2,8,2] = neg %s #1\n"),
     "states: phase k1p uses %s while k0p may write it, or the reverse"},
    {PHASE("rows", "    body %z f32[M,2,8,2] = neg %s #1\n")
         KERNEL("k1", "rows", "    body %kc f32[M,2,8,2] in %s+0/2 = kv_append %k at=%n state=%s #0\n"),
     "states: phase k1p uses %s while k0p may write it, or the reverse"},
    {PHASE("rows", "    body %kc f32[M,2,8,2] in %t+0/2 = kv_append %k at=%n state=%s #0\n"), "views: %kc must live in its state"},
    {PHASE("rows", "    body %kc f32[M,2,8,2] = kv_append %k at=%n state=%s #0\n"), "views: %kc must live in its state"},
    /* outputs */
    {"out %x as result\n" PHASE("rows", NEG), "outputs: output %x is made by no op"},
    {"out %z as result\n" PHASE("rows", NEG "    body %z f32[M,2] in %x+2/4 = slice %x offset=2 #0\n"),
     "outputs: output %z has no storage of its own"},
    {"out %y as result\n" PHASE("rows", "    body %y f32[M,4]/5 = neg %x #0\n"), "views: %y cannot lie in rows of 5 elements"},
    {"par %u f32[4,4]/8\n" PHASE("rows", NEG), "views: %u cannot lie in rows of 8 elements"},
    /* families */
    {PHASE("rows", "    body %z f32[M,2] in %x+2/4 = slice %x offset=2 #0\n"), "family: phase k0p holds views only, which need no kernel"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %m f32[M,6] = linear %x, %w #0\n"), "family: %m: the body of a gemm is its products"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    body %m f32[M,6] = neg %l #0\n"), "family: %m: the body of a gemm is its products"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    body %m f32[L,6] = linear %xl, %w #0\n"),
     "family: %m: the products of a phase share their left operand"},
    {PHASE("gemm", "    body %l f32[M,3,4] = linear %a4, %w44 #0\n    body %m f32[M,3,5] = matmul %a4, %b4 #0\n"),
     "family: %m: the products of a phase share their left operand"},
    {PHASE("gemm", "    pro %v f32[6,4] = neg %w #0\n" LINEAR("l", "x", "v")), "family: %l: the right operand is made in the same phase"},
    {PHASE("gemm", "    pro %v f32[M,3,4] = neg %a4 #0\n    body %l f32[M,4,4] = matmul %v, %x3 transpose_a #0\n"),
     "family: %l: an operand with transpose_a is made in the same phase"},
    {PHASE("gemm", "    pro %v f32[M,1] = row_sum %x #0\n" LINEAR("l", "x", "w")), "family: %v: a prologue is elementwise"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %v f32[M,1] = row_max %l #0\n"), "family: row_max %v cannot be in an epilogue"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %v f32[M,12] = concat %l, %l #0\n"), "family: concat %v cannot be in an epilogue"},
    {PHASE("gemm", "    pro %z f32[M,4] = neg %x #0\n"), "family: gemm phase k0p has no product"},
    {PHASE("gemm", "    body %l f32[M,3,5] = matmul %a4, %b4 #0\n    body %m f32[M,3,5] = matmul %a4, %b4 #0\n"),
     "family: phase k0p has two matmuls"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %v f32[M,1] = row_sumsq %l #0\n    epi %u f32[M,1] = row_sumsq %l #0\n"),
     "family: phase k0p has two row sums"},
    {PHASE("gemm", "    body %v f32[M,1] = row_sumsq %x5 #0\n" LINEAR("l", "x", "w")),
     "family: %v: a row sum in the body must be over the left operand"},
    {PHASE("gemm", "    body %v f32[M,1] = row_sumsq %x #0\n    body %u f32[M,1] = row_sumsq %x #0\n" LINEAR("l", "x", "w")),
     "family: %v: a row sum in the body must be over the left operand"},
    {PHASE("gemm", "    body %v f32[M,1] = row_sum %x #0\n" LINEAR("l", "x", "w")), "family: %v: the body of a gemm is its products"},
    {PHASE("gemm", LINEAR("l", "x", "w") LINEAR("m", "x", "wi")), "family: %m: products are joined by packing, so weights are params"},
    {PHASE("attention", NEG), "family: %y does not belong in phase k0p"},
    {PHASE("attention", "    epi %y f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n"), "family: %y does not belong in phase k0p"},
    {PHASE("combine", "    body %y f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n"), "family: %y does not belong in phase k0p"},
    {PHASE("align", "    body %y f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n"), "family: %y does not belong in phase k0p"},
    {PHASE("attention",
           "    body %y f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n    body %z f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n"),
     "family: phase k0p holds 2 ops of its family"},
    {PHASE("rows", "    body %y f32[M,6] = linear %x, %w #0\n"), "family: %y does not belong in rows phase k0p"},
    {PHASE("rows", "    body %y f32[M,3,8] = attention %q, %k, %k " SIZES "#0\n"), "family: %y does not belong in rows phase k0p"},
    {PHASE("rows", "    body %y f32[M,5]/8 = align %x5 #0\n"), "family: %y does not belong in rows phase k0p"},
    {PHASE("columns", NEG), "family: columns phase k0p has no reduction"},
    {PHASE("columns", COLUMNS "    body %z f32[M,1,8] = column_max %q axis=1 #1\n"),
     "family: column_max %z does not belong in columns phase k0p"},
    {PHASE("columns", COLUMNS "    epi %z f32[M,1,1] = row_sum %y #1\n"), "family: row_sum %z does not belong in columns phase k0p"},
    {PHASE("columns", COLUMNS "    epi %z f32[M,3,8] = sub %q, %y #1\n"), "family: %z does not fit the space of its phase"},
    {PHASE("columns", "    pro %z f32[M,3,8] = neg %q #0\n    body %y f32[M,1,8] = column_sum %z axis=1 #1\n")
         KERNEL("k1", "rows after k0p", "    body %v f32[M,3,8] = neg %z #2\n"),
     "family: %z is stored, but is a term of a reduction of columns"},
    /* spaces */
    {PHASE("rows", NEG "    body %z f32[L,4] = neg %xl #0\n"), "space: %z does not fit the space of its phase"},
    {PHASE("rows", NEG "    body %z f32[M,3] = neg %x13 #0\n"), "space: %z does not fit the space of its phase"},
    {PHASE("rows", NEG "    body %kc f32[M,2,8,2] in %s+0/2 = kv_append %k at=%n state=%s #0\n"),
     "space: %k does not fit the space of its phase"},
    {PHASE("rows", "    body %y f32[M,5] = neg %x5 #0\n    body %z f32[M,1] = row_sum %x #0\n"),
     "space: %z does not have the rows of its phase"},
    {PHASE("rows", NEG "    body %z f32[1,1] = row_sum %x0 #0\n"), "space: %z does not have the rows of its phase"},
    {PHASE("rows", "    body %y f32[M,5] = neg %x5 #0\n    body %z f32[M,2] = slice %x #0\n"),
     "space: %z does not have the rows of its phase"},
    {PHASE("rows", NEG "    body %kc f32[1,2,8,2] in %s1+0/2 = kv_append %k11 at=%n1 state=%s1 #0\n"),
     "space: %kc does not have the rows of its phase"},
    {"out %z as result\n" PHASE("rows", NEG "    body %z f32[4] = neg %f #0\n"),
     "space: %z is stored, but is not computed once per row of its phase"},
    {"out %z as result\n" PHASE("gemm", LINEAR("l", "x", "w") "    epi %z f32[1] = neg %c #0\n"),
     "space: %z is stored, but is not computed once per row of its phase"},
    {PHASE("gemm", "    pro %z f32[M,5] = neg %x5 #0\n" LINEAR("l", "x", "w")), "space: %z does not fit the space of its phase"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %z f32[M,4] = neg %x #0\n"), "space: %z does not fit the space of its phase"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %z f32[M,4] " ROPE "#0\n"), "space: %z belongs to no product of its phase"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %z f32[M,1] = row_sumsq %x #0\n"), "space: %z belongs to no product of its phase"},
    /* arrangements of columns */
    {PHASE("gemm", LINEAR("a", "x", "w") LINEAR("b", "x", "w")
                       LINEAR("g", "x", "w") "    epi %d f32[M,6] = add %a, %b #0\n    epi %y f32[M,6] = add %d, %g #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", LINEAR("a", "x", "w") LINEAR("b", "x", "w")
                       LINEAR("g", "x", "w") "    epi %d f32[M,6] = add %a, %b #0\n    epi %y f32[M,6] = add %b, %g #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", LINEAR("a", "x", "w") LINEAR("b", "x", "w")
                       LINEAR("g", "x", "w") "    epi %d f32[M,6] = add %a, %b #0\n    epi %y f32[M,6] = add %a, %g #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", LINEAR("a", "x", "w") "    body %b f32[M,1] = linear %x, %w1 #0\n    epi %d f32[M,6] = add %a, %b #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") TURNED("b", "a", "heads=2 pairing=half rotary=2")),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") TURNED("b", "a", "heads=2 pairing=half rotary=4") TURNED("d", "a", "heads=2 pairing=interleaved rotary=4")),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") TURNED("b", "a", "heads=2 pairing=half rotary=4") TURNED("d", "a", "heads=4 pairing=half rotary=2")),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") Q8("b", "") "    epi %d f32[M,8] = add %a, %b #0\n" TURNED("y", "d", "heads=2 pairing=half rotary=4")),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") Q8("b", "") TURNED("d", "a", "heads=2 pairing=half rotary=4") "    epi %y f32[M,8] = add %d, %b #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    {PHASE("gemm", Q8("a", "") Q8("b", "") TURNED("d", "b", "heads=2 pairing=half rotary=4") "    epi %y f32[M,8] = add %a, %d #0\n"),
     "segments: no packing order of columns fits the epilogue of k0p"},
    /* what is in memory */
    {PHASE("rows", "    body %d f32[M,4] = rope %x heads=2 pairing=half theta=1 rotary=2 #0\n    body %e f32[M,4] = exp %d #0\n"
                   "    body %y f32[M,4] = rope %e heads=2 pairing=half theta=1 rotary=2 #0\n"),
     "memory: %y reads %e, which its phase makes, at other columns"},
    {PHASE("rows", "    body %e f32[M,4] = exp %x #0\n    body %y f32[M,2] = slice %e #0\n"),
     "memory: %y reads %e, which its phase makes, at other columns"},
    {PHASE("rows", "    body %e f32[M,8] = concat %x, %x #0\n    body %y f32[M,8] = neg %e #0\n"),
     "memory: %y reads %e, which its phase writes at other places"},
    {PHASE("rows", NEG "    body %v f32[M,1] in %y+2/4 = slice %y offset=2 #0\n    body %z f32[M,1] = neg %v #0\n"),
     "memory: %z reads %v, which its phase writes at other places"},
    {PHASE("rows", "    body %kc f32[M,2,8,2] in %s+0/2 = kv_append %k22 at=%n state=%s #0\n    body %y f32[M,2,8,2] = neg %kc #0\n"),
     "space: %y does not fit the space of its phase"},
    /* partial sums */
    {SUMS KERNEL("k1", "rows after k0p", "    body %y f32[M,4] = mul %x, %ss #0\n"),
     "partial-sums: %y reads the partial sums %ss as a whole value"},
    {SUMS KERNEL("k1", "rows after k0p", "    body %y f32[M,1] = row_sum %ss #0\n"),
     "partial-sums: %y reads the partial sums %ss as a whole value"},
    {PHASE("gemm", LINEAR("l", "x", "w") "    epi %ss f32[M,1] = row_sumsq %l #0\n    epi %y f32[M,1] = sqrt %ss #0\n"),
     "partial-sums: %y reads the partial sums %ss as a whole value"},
    {KERNEL("k0", "gemm", "    body %ss f32[M,1] = row_sumsq %x #0\n" LINEAR("l", "x", "w"))
         KERNEL("k1", "rows after k0p", "    body %y f32[M,1] = sqrt %ss #0\n"),
     "partial-sums: %y reads %ss, which a product takes for its own phase"},
    {"out %ss as result\n" SUMS, "partial-sums: output %ss is partial sums"},
    /* folded weights */
    {PHASE("gemm", "    body %l f32[M,6] = linear %x, %w fold_offset #0\n"), "fold: %l has fold_offset without fold"},
    {PHASE("gemm", "    body %l f32[M,6] = linear %x, %w fold=%f #0\n"), "fold: %l folds a value that is known only after packing"},
    {PHASE("gemm", "    body %l f32[M,6] = linear %x, %wi fold=%p #0\n"), "fold: %l folds a value that is known only after packing"},
};

/* Broken graphs that cannot be written as text. */
static ir_value *value_named(ir_graph *p, const char *name)
{
    ir_value *v = graph_value(p, name);
    ck_assert_ptr_nonnull(v);
    return v;
}
static ir_value *copy_of(ir_graph *p, const char *name)
{
    static ir_value copy;
    copy = *value_named(p, name);
    return &copy;
}
static void name_alike(ir_graph *p) { value_named(p, "y")->output = value_named(p, "z")->output = "result"; }
static void exchange_ids(ir_graph *p) { value_named(p, "y")->id = value_named(p, "z")->id; }
static void live_elsewhere(ir_graph *p) { value_named(p, "y")->root = copy_of(p, "x"); }
static void live_nowhere(ir_graph *p)
{
    ir_value *x = copy_of(p, "x");
    x->id = p->value_count;
    value_named(p, "y")->root = x;
}
static void live_below_all(ir_graph *p)
{
    ir_value *x = copy_of(p, "x");
    x->id = -1;
    value_named(p, "y")->root = x;
}
static void make_an_input(ir_graph *p) { value_named(p, "x")->def = p->ops[0]; }
static void make_no_result(ir_graph *p) { value_named(p, "y")->def = NULL; }
static void use_a_stranger(ir_graph *p) { p->ops[1]->inputs[0] = copy_of(p, "x"); }
static void make_a_stranger(ir_graph *p) { p->ops[1]->outputs[0] = copy_of(p, "z"); }
static void be_made_by_another(ir_graph *p) { value_named(p, "z")->def = p->ops[0]; }
static void be_made_twice(ir_graph *p) { p->ops[1] = p->ops[0]; }
static void be_made_never(ir_graph *p) { p->op_count = 1; }
static void use_too_few(ir_graph *p) { p->ops[0]->input_count = 0; }
static void use_too_many(ir_graph *p)
{
    static ir_value *list[2];
    list[0] = list[1] = value_named(p, "x");
    p->ops[0]->inputs = list, p->ops[0]->input_count = 2;
}
static void take_heads(ir_graph *p) { p->ops[0]->attributes.heads = 2; }
static void be_endless(ir_graph *p) { p->ops[0]->attributes.theta = 1e300 * 1e300; }
static void turn_backwards(ir_graph *p) { p->ops[0]->attributes.rotary = -2; }
static void leave_phases(ir_graph *p)
{
    p->kernels[1]->phase_count = 1, p->kernels[1]->phases[0] = p->kernels[0]->phases[0], p->kernel_count = 1;
}
static void have_a_role(ir_graph *p) { p->ops[0]->role = role_body; }
static void have_no_role(ir_graph *p) { p->ops[0]->role = role_none; }
static void run_too_early(ir_graph *p)
{
    static ir_phase *later[1];
    ir_phase *first = p->kernels[0]->phases[0];
    later[0] = p->kernels[1]->phases[0];
    first->after = later, first->after_count = 1;
}
static void wait_for_itself(ir_graph *p)
{
    static ir_phase *own[1];
    own[0] = p->kernels[0]->phases[0];
    own[0]->after = own, own[0]->after_count = 1;
}
static void live_in_a_number(ir_graph *p)
{
    ir_value *number = p->ops[1]->inputs[1];
    ck_assert_int_eq(number->kind, value_constant);
    value_named(p, "y")->root = number;
}
static void live_in_itself(ir_graph *p) { value_named(p, "y")->root = value_named(p, "y"), value_named(p, "y")->root_stride = 4; }

#define TWO "%y f32[M,4] = neg %x #0\n%z f32[M,4] = add %x, 2 #1\n"
#define TWO_KERNELS PHASE("rows", NEG) KERNEL("k1", "rows", "    body %z f32[M,4] = neg %x #1\n")
static const struct {
    const char *text, *message;
    void (*change)(ir_graph *p);
} changes[] = {
    {TWO, "distinct-names: two outputs named result", name_alike},
    {TWO, "ids: %y has id", exchange_ids},
    {TWO, "ids: %y is stored in a value of another graph", live_elsewhere},
    {TWO, "ids: %y is stored in a value of another graph", live_nowhere},
    {TWO, "ids: %y is stored in a value of another graph", live_below_all},
    {TWO, "ids: %y lives in %y, which is a view itself", live_in_itself},
    {TWO, "ids: %x: only results are made by an op", make_an_input},
    {TWO, "ids: %y: only results are made by an op", make_no_result},
    {TWO, "made-before-used: %z uses a value of another graph", use_a_stranger},
    {TWO, "made-before-used: %z does not know the op that makes it", make_a_stranger},
    {TWO, "made-before-used: %z does not know the op that makes it", be_made_by_another},
    {TWO, "made-before-used: %y is made twice", be_made_twice},
    {TWO, "made-before-used: %z is computed by no op of this graph", be_made_never},
    {TWO, "attributes: neg %y: wrong number of operands", use_too_few},
    {TWO, "attributes: neg %y: wrong number of operands", use_too_many},
    {TWO, "attributes: neg %y has heads", take_heads},
    {"%y f32[M,4] " ROPE "#0\n", "attributes: rope %y: an attribute is not finite", be_endless},
    {"%y f32[M,4] " ROPE "#0\n", "attributes: rope %y: an attribute is negative", turn_backwards},
    {TWO, "roles: an op has a role outside a phase", have_a_role},
    {TWO, "views: %y cannot live in %number", live_in_a_number},
    {TWO_KERNELS, "one-phase: %z is in no phase", leave_phases},
    {TWO_KERNELS, "roles: %y has no role", have_no_role},
    {TWO_KERNELS, "after: phase k0p runs before k1p, which it comes after", run_too_early},
    {TWO_KERNELS, "after: phase k0p runs before k0p, which it comes after", wait_for_itself},
};

static void read_it(void *argument)
{
    check_test *t = argument;
    ir_graph *p = ir_read(t->t.a, t->text, strlen(t->text), "t.ir");
    if (!t->change) return;
    t->change(p);
    ir_check(t->t.a, p, "change");
}

static void must_be_refused(const char *text, const char *message, void (*change)(ir_graph *))
{
    check_test t = {.text = text, .change = change};
    attempt_run(&t.t, read_it, &t);
    ck_assert_msg(t.t.code == (change ? code_check_failed : code_bad_input), "\"%s\" was expected; it ended with %d for\n%s%s", message,
                  t.t.code, text, t.t.errors ? t.t.errors : "");
    ck_assert_msg(strstr(t.t.errors, message) != NULL, "expected \"%s\" in\n%s", message, t.t.errors);
    arena_free(t.t.a);
}

START_TEST(each_condition_on_an_op_has_a_text_that_violates_it)
{
    arena *a = arena_new();
    must_be_refused(arena_printf(a, "%s%s", HEAD DECLARED, wrong[_i].ops), arena_printf(a, ": error: %s\n", wrong[_i].message), NULL);
    arena_free(a);
}
END_TEST

/* Ops like those above, but correct: so each refusal above is due to the broken condition, not to what surrounds it. */
START_TEST(the_same_ops_are_accepted_when_nothing_is_wrong)
{
    static const char *const good[] = {
        "%y f32[M,1], %z f32[M,3] = split %x #0\n",
        KEPT,
        "%y bf16[M,4] = cast %x to=bf16 #0\n",
        "%y i32[M,4] = cast %x to=i32 #0\n",
        "%y f32[M,1] = cast %nn to=f32 #0\n",
        "%y f32[M,3,8] = attention %q, %k, %k " SIZES "lengths=%n #0\n",
        "%y f32[M,4] " ROPE "scaling=linear(2) #0\n",
        "%y f32[M,4] " ROPE "scaling=llama3(8,1,4,8192) #0\n",
        "%y f32[M,4] " ROPE "scaling=longrope(2) attention_factor=1.5 #0\n",
        "%y f32[M,4] = add %x, %f #0\n",
        "%y f32[M,4] = add %x0, %x1 #0\n",
        "%y f32[M,5]/8 = align %x5 #0\n",
        "%y f32[M,1] = row_sum %x #0\n",
        "%y f32[M,4] = softmax %x #0\n",
        "%y f32[M,4] = layernorm %x, %f, %f eps=1 #0\n",
        "%y f32[M,3,4] = rope %x3 heads=2 pairing=half theta=1 rotary=2 at=%n #0\n",
        "%y f32[M,6] = linear %x, %w, %o #0\n",
        "%y f32[M,6] = linear %x, %w fold=%p #0\n",
        "%y f32[M,6] = linear %x5, %w continued=%wr #0\n",
        "%y f32[M,3,5] = matmul %a4, %b4 #0\n",
        "%y f32[M,3,5] = matmul %a4, %b4t transpose #0\n",
        "%y f32[M,3,4,2] = attention %q4, %k4, %k " SIZES "#0\n",
        "%y f32[M,3,8] = attention %q, %s, %t " SIZES "lengths=%n #0\n",
        PART "%y f32[M,3,8] = attention_combine %part heads=4 #1\n",
        "%y f32[M,3,4,2] = rope %q4 heads=4 pairing=half theta=1 rotary=2 at=%n #0\n",
        "%y f32[M,2] = slice %x offset=2 #0\n",
        "%y f32[M,9] = concat %x, %x5 #0\n",
        "%y f32[M,2,2] = reshape %x #0\n",
        "%y f32[1048576,1048576] = neg %big #0\n",
        "%y f32[M,2] in %x+2/4 = slice %x offset=2 #0\n",
        "%z f32[M,5]/8 = align %x5 #0\n%y f32[M,5] in %z+0/8 = reshape %z #1\n",
        "%a f32[M,2] in %y+0/5 = slice %x #0\n%b f32[M,3] in %y+2/5 = slice %x5 #0\n%y f32[M,5] = concat %a, %b #0\n",
        "%a f32[M,4] in %y+0/4 = neg %x #0\n%y f32[M,2,2] = reshape %a #0\n",
    };
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        check_test t = {.text = arena_printf(a, "%s%s", HEAD DECLARED, good[i])};
        attempt_run(&t.t, read_it, &t);
        ck_assert_msg(t.t.code == code_ok, "%s%s", good[i], t.t.errors);
        arena_free(t.t.a);
    }
    arena_free(a);
}
END_TEST

START_TEST(each_condition_on_kernels_has_a_text_that_violates_it)
{
    arena *a = arena_new();
    must_be_refused(arena_printf(a, "%s%s", HEAD DECLARED, wrong_kernels[_i].kernels),
                    arena_printf(a, ": error: %s\n", wrong_kernels[_i].message), NULL);
    arena_free(a);
}
END_TEST

START_TEST(each_condition_that_text_cannot_violate_is_violated_in_memory)
{
    arena *a = arena_new();
    must_be_refused(arena_printf(a, "%s%s", HEAD DECLARED, changes[_i].text),
                    arena_printf(a, ": error: internal: after change: %s", changes[_i].message), changes[_i].change);
    arena_free(a);
}
END_TEST

/* The messages of need() in the verifier's source: each is expected above, so that a new condition comes with its text. */
START_TEST(each_message_of_the_verifier_is_tested)
{
    arena *a = arena_new();
    int found = 0;
    for (const char *at = read_text_file(a, "ir/check/check_shape.c"); (at = strstr(at, "    need(c, op, ")); found++) {
        const char *close = strstr(at, "\");\n"), *open = close;
        ck_assert_ptr_nonnull(close);
        while (open[-1] != '"') open--;
        const char *message = arena_strndup(a, open, (size_t)(close - open));
        bool tested = false;
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) tested |= strstr(wrong[i].message, message) != NULL;
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) tested |= strstr(changes[i].message, message) != NULL;
        ck_assert_msg(tested, "no text breaks \"%s\"", message);
        at = close;
    }
    ck_assert_int_gt(found, 50);
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("check");
    TCase *c = tcase_create("check");
    tcase_add_loop_test(c, each_condition_on_an_op_has_a_text_that_violates_it, 0, sizeof wrong / sizeof *wrong);
    tcase_add_loop_test(c, each_condition_on_kernels_has_a_text_that_violates_it, 0, sizeof wrong_kernels / sizeof *wrong_kernels);
    tcase_add_loop_test(c, each_condition_that_text_cannot_violate_is_violated_in_memory, 0, sizeof changes / sizeof *changes);
    tcase_add_test(c, the_same_ops_are_accepted_when_nothing_is_wrong);
    tcase_add_test(c, each_message_of_the_verifier_is_tested);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
