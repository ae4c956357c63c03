// tfgen.hpp as an application uses it, on the host engine: owners move, and a status that is no success is an exception with the text.
//
//     c++ -std=c++17 owners.cpp -ltfgen -o owners && ./owners
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <tfgen.hpp>

static_assert(!std::is_copy_constructible<tfgen::plan>::value && !std::is_copy_assignable<tfgen::weights>::value, "owners");
static_assert(std::is_nothrow_move_constructible<tfgen::memory>::value && std::is_move_assignable<tfgen::module>::value, "owners");

static void must(bool good, const char *what)
{
    if (good) return;
    std::printf("wrong: %s\n", what);
    std::exit(1);
}

template <class Call> static tfgen::error failure_of(Call call)
{
    try {
        call();
    } catch (const tfgen::error &e) {
        return e;
    }
    return {TFGEN_OK, "no failure"};
}

static const char spec[] = "block: t\ndtype: f32\ninputs: {x: [5, 16]}\nparams: {w: [8, 16]}\nops:\n  - {out: y, op: linear, in: [x, w]}\n"
                           "outputs: {y: y}\n";

int main(int, char **argv)
{
    const std::string name = std::string(argv[0]) + ".safetensors";
    const char *const path = name.c_str();
    const std::vector<float> whole(128, 0.25f);
    const tfgen::error device = failure_of([] { tfgen::device none("nonsense"); });
    must(device.status() == TFGEN_USAGE && *device.what(), "an unknown device");
    const tfgen::error bad = failure_of([] { tfgen::plan none("block: 5 5", "bad.yaml"); });
    must(bad.status() == TFGEN_BAD_INPUT && std::strstr(bad.what(), "bad.yaml:"), "a bad spec");

    tfgen::device on("host");
    tfgen::plan first(spec, "t.yaml");
    const tfgen::plan plan = std::move(first);
    must(!first.get() && plan.kernel_count() == 1 && plan.warnings().empty(), "a plan that was moved");
    must(std::strcmp(on.info().name, "host") == 0 && std::strcmp(on.target(), "host") == 0, "the device");
    try {
        (void)plan.tensor_index("z", TFGEN_INPUT);
        must(false, "a tensor that is not there");
    } catch (const std::out_of_range &) {
    }

    std::vector<tfgen::memory> memory;
    std::vector<void *> tensors;
    std::vector<float> numbers(128, 0.5f);
    for (std::size_t i = 0; i < plan.tensor_count(); i++) {
        memory.emplace_back(on, static_cast<std::size_t>(plan.tensor(i).bytes));
        memory.back().put(numbers.data());
        tensors.push_back(memory.back().get());
    }
    tfgen::module code(plan, on);
    const tfgen::weights weights(code, tensors);
    tfgen_args args = TFGEN_ARGS_INIT;
    args.tensors = tensors.data();
    must(failure_of([&] { tfgen::execute(code, nullptr, args, nullptr); }).status() == TFGEN_USAGE, "weights that are missing");
    must(failure_of([&] { code.prepare({{"Z", 1}}); }).status() == TFGEN_USAGE, "a dim that is not there");
    tfgen::execute(code, weights.get(), args, nullptr);
    tfgen::execute_check(code, args, nullptr);
    const tfgen::memory y = std::move(memory[plan.tensor_index("y", TFGEN_OUTPUT)]);
    y.take(numbers.data());
    must(y.bytes() == 160 && numbers[0] == 4 && numbers[39] == 4, "16 products of halves");

    tfgen_plan_options stacked = TFGEN_PLAN_OPTIONS_INIT;
    stacked.fusion = TFGEN_FUSION_BLOCK, stacked.stack = 1;
    const char layer_spec[] = "block: t\ndtype: f32\ninputs: {x: [5, 16]}\nparams: {w: [16, 16]}\nops:\n"
                              "  - {out: p, op: linear, in: [x, w]}\n  - {out: y, op: softmax, in: [p]}\noutputs: {y: y}\n";
    const tfgen::plan layer(layer_spec, "layer.yaml", stacked);
    const tfgen::module layer_code(layer, on);
    std::vector<tfgen::memory> own;
    std::vector<void *> at;
    for (std::size_t i = 0; i < layer.tensor_count(); i++) {
        own.emplace_back(on, static_cast<std::size_t>(layer.tensor(i).bytes));
        std::memset(own.back().get(), 0, own.back().bytes());
        at.push_back(own.back().get());
    }
    const tfgen::weights zeros(layer_code, at);
    const tfgen::memory room(on, static_cast<std::size_t>(layer.workspace_bytes()));
    const tfgen::stack two(layer_code, {{zeros.get(), at}, {zeros.get(), at}});
    tfgen_args both = TFGEN_ARGS_INIT;
    both.tensors = at.data();
    two.execute(0, 2, both, room.get());
    must(*static_cast<float *>(at[layer.tensor_index("y", TFGEN_OUTPUT)]) == 0.0625f, "a softmax of 16 zeros");
    must(failure_of([&] { two.execute(1, 2, both, room.get()); }).status() == TFGEN_USAGE, "a layer that is not there");

    const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[8,16],\"data_offsets\":[0,512]}}";
    const unsigned long long size = sizeof header - 1;
    std::FILE *f = std::fopen(path, "wb");
    must(f && std::fwrite(&size, 8, 1, f) == 1 && std::fwrite(header, size, 1, f) == 1 && std::fwrite(whole.data(), 512, 1, f) == 1 &&
             std::fclose(f) == 0, "writing a file");
    const tfgen::checkpoint file(path);
    must(file.names() == std::vector<std::string>{"w"} && file.find("w").shape[1] == 16 && file.read("w").size() == 512, "a checkpoint");
    must(file.param(plan, plan.tensor_index("w", TFGEN_PARAM)) == file.read("w"), "a param");
    must(failure_of([&] { (void)file.read("v"); }).status() == TFGEN_BAD_INPUT, "a tensor that is not in the file");
    std::puts("good");
}
