// A list of two phases (templates/frame/frame_list.h): each workgroup writes a number, then each adds up all of them. Workgroup `slow`
// writes its number only after another one has waited too long for it, and then sets its mark. TF_FEWER: workgroups without a number.
struct numbers {
    struct args {
        unsigned long long *words;
        int *numbers, *sums, first, slow;
    };
    struct in_list {
        template <class P> static constexpr int bytes = 16;
        template <class P> struct walk {
            DEV void start(const args &, int) {}
            DEV void look(const args &, int, char *) {}
            DEV void tile(const args &p, int index, int, char *)
            {
                while (index == p.slow && !marks{p.words}.is_late()) pause();
                if (thread_index() == 0) p.numbers[index] = p.first + index;
            }
        };
    };
    static constexpr int threads = 4;
    DEV static int tiles(const args &) { return block_total() - TF_FEWER; }
};

struct sums {
    using args = numbers::args;
    struct in_list {
        template <class P> static constexpr int bytes = 16;
        template <class P> struct walk {
            DEV void start(const args &, int) {}
            DEV void look(const args &, int, char *) {}
            DEV void tile(const args &p, int index, int, char *)
            {
                if (thread_index() != 0) return;
                int sum = 0;
                for (int i = 0; i < block_total() - TF_FEWER; i++) sum += p.numbers[i];
                p.sums[index] = sum;
            }
        };
    };
    static constexpr int threads = 4;
    DEV static int tiles(const args &) { return block_total(); }
};

struct both : phase_list<numbers, sums> {
    using waits = by_phases<both>;
    static constexpr bool counted = TF_COUNTED;
    using args = numbers::args;
    DEV static int tiles(const args &p, int phase) { return phase == 0 ? numbers::tiles(p) : sums::tiles(p); }
    template <class Do> DEV static void with(const args &p, int phase, Do what)
    {
        if (phase == 0) return what(numbers(), p);
        return what(sums(), p);
    }
    DEV static unsigned long long *words(const args &p) { return p.words; }
    DEV static int awaited(int phase, int n) { return phase == 1 && n == 0 ? 0 : -1; }
    DEV static bool is_awaited(int phase) { return phase == 0; }
    static constexpr int last_wait = 1;
};
TF_KERNEL_LIST(both_phases, both)
