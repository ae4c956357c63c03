// Runs a SwiGLU layer (specs/swiglu.yaml) from C++17 with tfgen.hpp, whose objects own what they make and whose calls throw exceptions.
//
//   c++ -std=c++17 swiglu.cpp -ltfgen && ./a.out [SPEC [DEVICE]]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>
#include <tfgen.hpp>

namespace {

std::string read(const char *path)
{
    std::ifstream file(path);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int run(const char *spec_path, const char *device_name)
{
    const std::string spec = read(spec_path);
    const tfgen::device on(device_name);
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = on.target();
    options.dtype = "f32";
    const tfgen::plan plan(spec, spec_path, options);
    const tfgen::module code(plan, on);

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<tfgen::memory> memory;
    std::vector<void *> tensors;
    std::size_t output = 0;
    for (std::size_t i = 0; i < plan.tensor_count(); i++) {
        const tfgen_tensor t = plan.tensor(i);
        std::vector<float> data(static_cast<std::size_t>(t.bytes) / sizeof(float));
        for (float &x : data) x = t.kind == TFGEN_OUTPUT ? NAN : 0.1f * normal(random);
        memory.emplace_back(on, static_cast<std::size_t>(t.bytes));
        memory.back().put(data.data());
        tensors.push_back(memory.back().get());
        if (t.kind == TFGEN_OUTPUT) output = i;
    }
    const tfgen::weights weights(code, tensors);
    const tfgen::memory workspace(on, static_cast<std::size_t>(plan.workspace_bytes()));
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = tensors.data();
    tfgen::execute(code, weights.get(), args, workspace.get());

    std::vector<float> y(memory[output].bytes() / sizeof(float));
    memory[output].take(y.data());
    double sum = 0;
    for (const float x : y) sum += static_cast<double>(x) * x;
    std::printf("%s: %zu kernels, %.1f MB of packed weights, root mean square of the output %.4f\n", on.target(), plan.kernel_count(),
                static_cast<double>(weights.bytes()) / 1e6, std::sqrt(sum / static_cast<double>(y.size())));
    return std::isfinite(sum) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc > 1 ? argv[1] : "specs/swiglu.yaml", argc > 2 ? argv[2] : nullptr);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
