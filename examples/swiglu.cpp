// A SwiGLU layer (specs/swiglu.yaml) from C++17: RAII owners for tfgen objects, exceptions for statuses, a dynamic number of rows.
//
//   c++ -std=c++17 swiglu.cpp -ltfgen && ./a.out [device]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>
#include <tfgen.h>

namespace {

void must(tfgen_status status, const tfgen_error &error)
{
    if (status != TFGEN_OK) throw std::runtime_error(error.text);
}

template <auto Free> struct freed {
    template <class T> void operator()(T *object) const { Free(object); }
};
using device = std::unique_ptr<tfgen_device, freed<tfgen_device_close>>;
using plan = std::unique_ptr<tfgen_plan, freed<tfgen_plan_free>>;
using module_ = std::unique_ptr<tfgen_module, freed<tfgen_module_free>>;
using weights = std::unique_ptr<tfgen_weights, freed<tfgen_weights_free>>;

template <class Owner, class Make> Owner made(Make make)
{
    typename Owner::pointer object = nullptr;
    tfgen_error error;
    must(make(&object, &error), error);
    return Owner(object);
}

class buffer { // device memory, with copies from and to the host
  public:
    buffer(tfgen_device *on, std::size_t bytes) : on_(on)
    {
        tfgen_error error;
        must(tfgen_device_alloc(on_, bytes, &data_, &error), error);
    }
    buffer(buffer &&other) noexcept : on_(other.on_), data_(other.data_) { other.data_ = nullptr; }
    ~buffer() { tfgen_device_free(on_, data_); }
    void *get() const { return data_; }
    void put(const std::vector<float> &from)
    {
        tfgen_error error;
        must(tfgen_device_copy(on_, data_, from.data(), from.size() * sizeof(float), TFGEN_TO_DEVICE, nullptr, &error), error);
    }
    std::vector<float> take(std::size_t count) const
    {
        tfgen_error error;
        std::vector<float> to(count);
        must(tfgen_device_copy(on_, to.data(), data_, count * sizeof(float), TFGEN_FROM_DEVICE, nullptr, &error), error);
        return to;
    }

  private:
    tfgen_device *on_;
    void *data_ = nullptr;
};

std::string read(const char *path)
{
    std::ifstream file(path);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int run(const char *spec_path, const char *device_name)
{
    const std::string spec = read(spec_path);
    const device on = made<device>([&](auto out, auto error) { return tfgen_device_open(device_name, out, error); });
    tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
    options.target = tfgen_device_target(on.get());
    options.dtype = "f32";
    const plan p = made<plan>(
        [&](auto out, auto error) { return tfgen_plan_create(spec.data(), spec.size(), spec_path, &options, out, error); });
    const module_ code = made<module_>([&](auto out, auto error) { return tfgen_module_create(p.get(), on.get(), nullptr, out, error); });

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<buffer> buffers;
    std::vector<void *> tensors;
    std::size_t output = 0, output_count = 0;
    for (std::size_t i = 0; i < tfgen_plan_tensor_count(p.get()); i++) {
        tfgen_tensor t{};
        t.size = sizeof t;
        tfgen_error error;
        must(tfgen_plan_tensor(p.get(), i, &t), error);
        std::vector<float> data(static_cast<std::size_t>(t.bytes) / sizeof(float));
        for (float &x : data) x = t.kind == TFGEN_OUTPUT ? NAN : 0.1f * normal(random);
        buffers.emplace_back(on.get(), static_cast<std::size_t>(t.bytes));
        buffers.back().put(data);
        tensors.push_back(buffers.back().get());
        if (t.kind == TFGEN_OUTPUT) output = i, output_count = data.size();
    }
    const weights w =
        made<weights>([&](auto out, auto error) { return tfgen_weights_create(code.get(), tensors.data(), nullptr, out, error); });
    const buffer workspace(on.get(), static_cast<std::size_t>(tfgen_plan_workspace_bytes(p.get())) + 1);
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = tensors.data();
    tfgen_error error;
    must(tfgen_execute(code.get(), w.get(), &args, workspace.get(), nullptr, &error), error);

    double sum = 0;
    for (const float x : buffers[output].take(output_count)) sum += static_cast<double>(x) * x;
    std::printf("%s: %zu kernels, %.1f MB of packed weights, root mean square of the output %.4f\n", tfgen_device_target(on.get()),
                tfgen_plan_kernel_count(p.get()), static_cast<double>(tfgen_weights_bytes(w.get())) / 1e6,
                std::sqrt(sum / static_cast<double>(output_count)));
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
