// A list of two phases whose rows come in words (templates/frame/words.h): each workgroup stores four elements of a row, then each adds up
// all of the row. Workgroup `slow` stores its elements only after another one has waited too long for them. TF_FEWER: workgroups that store
// nothing.
struct give {
    struct args {
        float *row;
        float *sums;
        int first, slow;
        launch_words tf_words;
    };
    struct in_list {
        template <class P> static constexpr int bytes = 16;
        template <class P> struct walk {
            DEV void start(const args &, int) {}
            DEV void look(const args &, int, char *) {}
            DEV void tile(const args &p, int index, int, char *)
            {
                while (index == p.slow && !marks{p.tf_words.marks}.is_late()) pause();
                const float x = static_cast<float>(p.first + index);
                if (thread_index() == 0) p.tf_words.store<f16, 4>(p.row + 4 * index, vec<float, 4>{x, x, x, x});
            }
        };
    };
    static constexpr int threads = 32;
    DEV static int tiles(const args &) { return block_total() - TF_FEWER; }
};

struct take {
    using args = give::args;
    struct in_list {
        template <class P> static constexpr int bytes = 16;
        template <class P> struct walk {
            DEV void start(const args &, int) {}
            DEV void look(const args &, int, char *) {}
            DEV void tile(const args &p, int index, int, char *)
            {
                struct run {
                    unsigned word[4];
                } first[1];
                p.tf_words.take<1, true>(first, [&](int) { return p.row; }, [](int) { return 1 - thread_index() % 2; });
                if (thread_index() != 0) return;
                float sum = to_float(__builtin_bit_cast(f16, static_cast<unsigned short>(first[0].word[0])));
                for (int i = 1; i < give::tiles(p); i++) sum += p.tf_words.load<f16, 4>(p.row + 4 * i)[3];
                p.sums[index] = sum;
            }
        };
    };
    static constexpr int threads = 32;
    DEV static int tiles(const args &) { return block_total(); }
};

struct both : phase_list<give, take> {
    using waits = by_phases<both>;
    static constexpr bool counted = TF_COUNTED, in_words = true;
    static constexpr int kept_bytes = 0;
    using args = give::args;
    DEV static int tiles(const args &p, int phase) { return phase == 0 ? give::tiles(p) : take::tiles(p); }
    template <class Do> DEV static void with(const args &p, int phase, Do what)
    {
        if (phase == 0) return what(give(), p);
        return what(take(), p);
    }
    DEV static unsigned long long *words(const args &p) { return p.tf_words.marks; }
    DEV static int awaited(int, int) { return -1; }
    DEV static bool is_awaited(int) { return false; }
    static constexpr int last_wait = 0;
};
TF_KERNEL_LIST(both_phases, both)
