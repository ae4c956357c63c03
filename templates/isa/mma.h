// NVIDIA's sm_80 layer for 16-bit operands: cp.async, ldmatrix, mma.m16n8k16. Functions tell which row and column an accumulator belongs
// to. On the host engine each lane computes its own elements, and copies land either as early or as late as they may.
#pragma once
#include "templates/isa/m16n8k16.h"
#include "templates/isa/nvidia.h"

// Layout of a stage: lines of Pieces * 16 bytes along k, each a row of A or a packed column of B. In a row of A, piece p lies at p ^
// a_key(row). For B, piece p of column 0, piece p of column 1, ... up to column 7 are contiguous, as in the packed weight; in every other
// group of eight, columns are permuted (index ^ 2). So neither a quarter of an ldmatrix nor a copy by eight adjacent threads has bank
// conflicts. And 32 bytes that are contiguous in memory stay contiguous, without which copies take twice as long (H200, 2048x8192x2048: 295
// us against 148).
//
// A block of results is 16 rows x 32 columns, four products of 8 columns. Columns are assigned to products so that a lane has, in two rows,
// 4 adjacent columns of the low half and the 4 columns 16 further on.
template <int Pieces> struct fragment {
    static constexpr int rows = 16, columns = 32, products = 4;
    static_assert(Pieces == 4 || Pieces == 8, "tile: rows of 4 or 8 pieces of 16 bytes");
    struct block {
        float sum[products][4]; // sum[product][i]: row(i / 2), the first or second (i % 2) of the lane's two columns
    };
    DEV static int lane() { return thread_index() % 32; }
    DEV static int row(int half) { return lane() / 4 + half * 8; }
    DEV static int column() { return lane() % 4 * 4; } // the first of the lane's 4 in the low half
    DEV static constexpr int column_of(int product, int i) { return product / 2 * 16 + i / 2 * 4 + product % 2 * 2 + i % 2; }
    DEV static constexpr int a_key(int line) { return Pieces == 4 ? line / 2 % 4 : line % 8; }
    DEV static constexpr int a_at(int line, int piece) { return (line * Pieces + (piece ^ a_key(line))) * 16; } // bytes
    DEV static constexpr int b_at(int line, int piece) // bytes; 16 lines further on are 256 * Pieces bytes more
    {
        return (line / 8 * Pieces + piece) * 128 + (line % 8 ^ line / 8 % 2 * 2) * 16;
    }
    // For B: the line and the piece that thread i copies. Threads copy the packed weight's pieces (gemm/pieces.h) in memory order.
    DEV static constexpr int copied_line(int i) { return i / (8 * Pieces) * 8 + i % 8; }
    DEV static constexpr int copied_piece(int i) { return i / 8 % Pieces; }
    // For products of 8 adjacent columns each (dense_operand): settle() has even lanes exchange their columns of the second product for
    // their neighbours' columns of the first. A lane then has 4 adjacent columns of the low half, from dense_column() on, and the 4 columns
    // 16 further on.
    DEV static int dense_column() { return lane() % 2 * 8 + lane() % 4 / 2 * 4; }
    DEV static void settle(block &b)
    {
#pragma unroll
        for (int j = 0; j < products; j += 2)
#pragma unroll
            for (int h = 0; h < 4; h += 2) {
                const bool odd = lane() % 2;
                float x[2], y[2];
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float own = odd ? b.sum[j + 1][h + i] : b.sum[j][h + i];
                    const float other = lane_xor<32>(odd ? b.sum[j][h + i] : b.sum[j + 1][h + i], 1);
                    x[i] = odd ? other : own, y[i] = odd ? own : other;
                }
#pragma unroll
                for (int i = 0; i < 2; i++) b.sum[j][h + i] = x[i], b.sum[j + 1][h + i] = y[i];
            }
    }
    DEV static void clear(block &b)
    {
#pragma unroll
        for (int j = 0; j < products; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) b.sum[j][i] = 0;
    }
    template <int W> DEV static vec<float, W> low(const block &b, int half, int first) { return part<W>(b.sum[0], b.sum[1], half, first); }
    template <int W> DEV static vec<float, W> high(const block &b, int half, int first) { return part<W>(b.sum[2], b.sum[3], half, first); }

  private:
    template <int W> DEV static vec<float, W> part(const float (&x)[4], const float (&y)[4], int half, int first)
    {
        vec<float, W> v;
#pragma unroll
        for (int i = 0; i < W; i++) v[i] = first + i < 2 ? x[half * 2 + first + i] : y[half * 2 + first + i - 2];
        return v;
    }
};

// For A as [K, M] or B as [K, N], in a stage of rows of Columns columns: bytes from its start to columns 8 * piece to 8 * piece + 7 of row
// k. The swizzle has each ldmatrix read from all 32 banks.
template <int Columns> DEV constexpr int across_at(int k, int piece)
{
    static_assert(Columns % 64 == 0, "tile: n is a multiple of 64 for B as [K, N]");
    return (k * (Columns / 8) + (piece ^ k % 8)) * 16;
}

// Whether any eight lanes that access 16 bytes each at the same time cover all 32 banks. The swizzle repeats after 32 lines.
template <int Pieces> DEV constexpr bool banks_differ()
{
    using part = fragment<Pieces>;
    bool good = true;
    for (int first = 0; first < 32; first += 8)
        for (int piece = 0; piece < Pieces; piece++) {
            unsigned a = 0, b = 0;
            for (int i = 0; i < 8; i++)
                a |= 1u << part::a_at(first + i, piece) / 16 % 8, b |= 1u << part::b_at(part::column_of(first / 8, i), piece) / 16 % 8;
            good = good && a == 0xff && b == 0xff; // an ldmatrix: 8 rows, 8 columns of a product
        }
    for (int first = 0; first < 32 * Pieces; first += 8) {
        unsigned a = 0, b = 0;
        for (int i = first; i < first + 8; i++)
            a |= 1u << part::a_at(i / Pieces, i % Pieces) / 16 % 8,
                b |= 1u << part::b_at(part::copied_line(i), part::copied_piece(i)) / 16 % 8;
        good = good && a == 0xff && b == 0xff; // copies of adjacent threads
    }
    return good;
}
static_assert(banks_differ<4>() && banks_differ<8>(), "the swizzle avoids bank conflicts");

#if defined(TF_ON_HOST)

template <class T> DEV T *host_shared(shared_address at)
{
    TF_SHARED_DYN(char, memory);
    return reinterpret_cast<T *>(memory + at);
}
// A thread's copies. Every other 16-byte piece lands at once, the others as late as they may. So results are wrong if a wait is missing or
// a stage is filled while it is still being read.
struct copies {
    template <int Bytes = 16> DEV void start(shared_address to, const void *from, int valid)
    {
        tf_hs_stands_in();
        if (valid) tf_hs_says(from, valid, HS_CHECK_READ), tf_hs_aligned(from, Bytes);
        tf_hs_says(host_shared<char>(to), Bytes, HS_CHECK_WRITE);
        if (to / 16 % 2) {
            land({to, Bytes, valid, group, static_cast<const char *>(from)});
            return;
        }
        if (count == most) __builtin_trap();
        in_flight[count++] = {to, Bytes, valid, group, static_cast<const char *>(from)};
    }
    DEV void commit() { group++; }
    template <int Left> DEV void wait() // all groups but the last `Left` have landed
    {
        tf_hs_stands_in();
        int kept = 0;
        for (int i = 0; i < count; i++)
            if (in_flight[i].group + Left < group)
                land(in_flight[i]);
            else
                in_flight[kept++] = in_flight[i];
        count = kept;
    }

  private:
    static constexpr int most = 512;
    struct copy {
        shared_address to;
        int size, valid, group;
        const char *from;
    };
    DEV static void land(const copy &c)
    {
        char *bytes = host_shared<char>(c.to);
        for (int i = 0; i < c.size; i++) bytes[i] = i < c.valid ? c.from[i] : 0;
    }
    copy in_flight[most];
    int count = 0, group = 0;
};
DEV void shared_write(shared_address to, float x) { *host_shared<float>(to) = x; }
DEV float shared_read(shared_address from) { return *host_shared<float>(from); }
DEV void shared_write(shared_address to, const unsigned (&x)[2])
{
    *host_shared<neighbours<unsigned, 2>>(to) = {{x[0], x[1]}};
}
DEV void shared_read(shared_address from, unsigned (&x)[4])
{
    const neighbours<unsigned, 4> all = *host_shared<neighbours<unsigned, 4>>(from);
    for (int i = 0; i < 4; i++) x[i] = all.e[i];
}

// Operands for 16 values of k. On the host a lane keeps whole rows and columns: the two rows of A and the eight columns of B from which
// its part of the block follows.
template <class T, int Pieces> struct row_operand {
    float x[2][16];
    DEV void read(shared_address lines, int unit)
    {
        const int lane = fragment<Pieces>::lane();
        tf_hs_stands_in();
        tf_hs_says(host_shared<char>(lines + fragment<Pieces>::a_at(lane % 16, unit * 2 + lane / 16)), 16, HS_CHECK_READ); // ldmatrix
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 16; k++) {
                const int line = fragment<Pieces>::row(h), piece = unit * 2 + k / 8;
                x[h][k] = to_float(host_shared<T>(lines + fragment<Pieces>::a_at(line, piece))[k % 8]);
            }
    }
    template <int Rows> DEV void read_columns(shared_address places, int row, int unit)
    {
        const int lane = fragment<Pieces>::lane();
        tf_hs_stands_in();
        tf_hs_says(host_shared<char>(places + across_at<Rows>(unit * 16 + lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2)), 16,
                   HS_CHECK_READ); // ldmatrix
        for (int h = 0; h < 2; h++)
            for (int k = 0; k < 16; k++) {
                const int own = row + fragment<Pieces>::row(h);
                x[h][k] = to_float(host_shared<T>(places + across_at<Rows>(unit * 16 + k, own / 8))[own % 8]);
            }
    }
};
template <class T, int Pieces> struct column_operand {
    float x[4][2][16];
    DEV void read(shared_address lines, int unit)
    {
        const int lane = fragment<Pieces>::lane(), first = fragment<Pieces>::column_of(lane / 16, lane % 8);
        tf_hs_stands_in();
        for (int half = 0; half < 2; half++) // ldmatrix
            tf_hs_says(host_shared<char>(lines + fragment<Pieces>::b_at(first, unit * 2 + lane / 8 % 2) + half * 16 * Pieces * 16), 16,
                       HS_CHECK_READ);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < 16; k++) {
                    const int line = fragment<Pieces>::column_of(j, fragment<Pieces>::lane() % 4 * 2 + i), piece = unit * 2 + k / 8;
                    x[j][i][k] = to_float(host_shared<T>(lines + fragment<Pieces>::b_at(line, piece))[k % 8]);
                }
    }
};
// An operand for products of 8 adjacent columns each (fragment::settle).
template <class T, int Pieces> struct dense_operand : column_operand<T, Pieces> {
    DEV void read_rows(shared_address lines, int unit)
    {
        const int lane = fragment<Pieces>::lane();
        tf_hs_stands_in();
        for (int half = 0; half < 2; half++) // ldmatrix
            tf_hs_says(host_shared<char>(lines + fragment<Pieces>::a_at(half * 16 + lane / 16 * 8 + lane % 8, unit * 2 + lane / 8 % 2)), 16,
                       HS_CHECK_READ);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < 16; k++) {
                    const int line = j * 8 + lane % 4 * 2 + i;
                    this->x[j][i][k] = to_float(host_shared<T>(lines + fragment<Pieces>::a_at(line, unit * 2 + k / 8))[k % 8]);
                }
    }
    template <int Columns> DEV void read_columns(shared_address places, int column, int unit)
    {
        const int lane = fragment<Pieces>::lane();
        tf_hs_stands_in();
        for (int half = 0; half < 2; half++) // ldmatrix
            tf_hs_says(host_shared<char>(places + across_at<Columns>(unit * 16 + lane % 16, column / 8 + half * 2 + lane / 16)), 16,
                       HS_CHECK_READ);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < 16; k++) {
                    const shared_address at = places + across_at<Columns>(unit * 16 + k, column / 8 + j);
                    this->x[j][i][k] = to_float(host_shared<T>(at)[lane % 4 * 2 + i]);
                }
    }
};
template <class T, int Pieces>
DEV void multiply(typename fragment<Pieces>::block &c, const row_operand<T, Pieces> &a, const column_operand<T, Pieces> &b)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            float sum = c.sum[j][i];
            for (int k = 0; k < 16; k++) sum += a.x[i / 2][k] * b.x[j][i % 2][k];
            c.sum[j][i] = sum;
        }
}

#else

struct copies {
    // Copies the first `valid` of 4, 8 or 16 bytes, and zeros in place of the others. If valid is 0, nothing is read.
    template <int Bytes = 16> DEV static void start(shared_address to, const void *from, int valid)
    {
        if constexpr (Bytes == 16)
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
        else
            asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(valid) : "memory");
    }
    DEV static void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
    template <int Left> DEV static void wait()
    {
        asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
    } // until all groups but the last `Left` have landed
};
DEV void shared_write(shared_address to, float x) { asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory"); }
DEV float shared_read(shared_address from)
{
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
    return x;
}
DEV void shared_write(shared_address to, const unsigned (&x)[2])
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(x[0]), "r"(x[1]) : "memory");
}
DEV void shared_read(shared_address from, unsigned (&x)[4])
{
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from) : "memory");
}
DEV void read_matrices(shared_address from, unsigned &a, unsigned &b, unsigned &c, unsigned &d)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from)
                 : "memory");
}

DEV void read_transposed(shared_address from, unsigned &a, unsigned &b, unsigned &c, unsigned &d)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from)
                 : "memory");
}

// Operands for 16 values of k: 16 rows, or 32 packed columns, that begin at `lines`. A lane passes ldmatrix the address of one row of an 8
// x 8 matrix. read_columns(): 16 rows of A as [K, M], in a stage of Rows rows, from `row` on.
template <class T, int Pieces> struct row_operand {
    unsigned x[4];
    DEV void read(shared_address lines, int unit)
    {
        const int lane = thread_index() % 32;
        read_matrices(lines + fragment<Pieces>::a_at(lane % 16, unit * 2 + lane / 16), x[0], x[1], x[2], x[3]);
    }
    template <int Rows> DEV void read_columns(shared_address places, int row, int unit)
    {
        const int lane = thread_index() % 32;
        read_transposed(places + across_at<Rows>(unit * 16 + lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2), x[0], x[1], x[2], x[3]);
    }
};
template <class T, int Pieces> struct column_operand {
    unsigned x[4][2];
    DEV void read(shared_address lines, int unit)
    {
        const int lane = thread_index() % 32, line = fragment<Pieces>::column_of(lane / 16, lane % 8);
        const shared_address at = lines + fragment<Pieces>::b_at(line, unit * 2 + lane / 8 % 2);
        read_matrices(at, x[0][0], x[0][1], x[1][0], x[1][1]);
        read_matrices(at + 16 * Pieces * 16, x[2][0], x[2][1], x[3][0], x[3][1]);
    }
};

// An operand for products of 8 adjacent columns each (fragment::settle): read_rows() for B with K contiguous, in lines like A's,
// read_columns() for B with N contiguous.
template <class T, int Pieces> struct dense_operand : column_operand<T, Pieces> {
    DEV void read_rows(shared_address lines, int unit)
    {
        const int lane = thread_index() % 32;
#pragma unroll
        for (int j = 0; j < 4; j += 2)
            read_matrices(lines + fragment<Pieces>::a_at(j * 8 + lane / 16 * 8 + lane % 8, unit * 2 + lane / 8 % 2), this->x[j][0],
                          this->x[j][1], this->x[j + 1][0], this->x[j + 1][1]);
    }
    template <int Columns> DEV void read_columns(shared_address places, int column, int unit)
    {
        const int lane = thread_index() % 32;
#pragma unroll
        for (int j = 0; j < 4; j += 2)
            read_transposed(places + across_at<Columns>(unit * 16 + lane % 16, column / 8 + j + lane / 16), this->x[j][0], this->x[j][1],
                            this->x[j + 1][0], this->x[j + 1][1]);
    }
};

template <class T, int Pieces>
DEV void multiply(typename fragment<Pieces>::block &c, const row_operand<T, Pieces> &a, const column_operand<T, Pieces> &b)
{
#pragma unroll
    for (int j = 0; j < 4; j++) mma_add(T(), c.sum[j], a.x[0], a.x[1], a.x[2], a.x[3], b.x[j][0], b.x[j][1]);
}
#endif
