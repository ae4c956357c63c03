// tfgen.h for C++17: owning objects, and exceptions instead of statuses. All functions are inline calls of the C interface, whose comments
// apply here, too: a plan must outlive its modules, a device its modules, weights and memory. get() returns the C object, for functions
// without a wrapper. Objects can be moved but not copied; a moved-from object owns nothing.
//
//     tfgen::device on;                                        // the first GPU, else the host
//     tfgen_plan_options options = TFGEN_PLAN_OPTIONS_INIT;
//     options.target = on.target();
//     tfgen::plan plan(yaml, "ffn.yaml", options);
//     tfgen::module code(plan, on);
//     tfgen::weights w(code, tensors);
//     tfgen::execute(code, w.get(), args, workspace.get());
#ifndef TFGEN_HPP
#define TFGEN_HPP
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "tfgen.h"

namespace tfgen {

// Thrown if a call fails: what() is the text of tfgen_error, or the status in words if that is empty.
class error : public std::runtime_error {
  public:
    error(tfgen_status status, const char *text) : std::runtime_error(*text ? text : tfgen_status_text(status)), status_(status) {}
    tfgen_status status() const noexcept { return status_; }

  private:
    tfgen_status status_;
};

namespace detail {
// call(tfgen_error *) returns a status; throws unless that is TFGEN_OK.
template <class Call> void must(Call call)
{
    tfgen_error e;
    e.text[0] = '\0';
    const tfgen_status status = call(&e);
    if (status != TFGEN_OK) throw error(status, e.text);
}

template <class T, void (*Free)(T *)> struct freed {
    void operator()(T *object) const noexcept { Free(object); }
};
template <class T, void (*Free)(T *)> using owner = std::unique_ptr<T, freed<T, Free>>;

// make(T **, tfgen_error *) returns a status.
template <class T, class Make> T *made(Make make)
{
    T *object = nullptr;
    must([&](tfgen_error *e) { return make(&object, e); });
    return object;
}
} // namespace detail

using dims = std::vector<tfgen_dim>; // names are borrowed

class device {
  public:
    explicit device(const char *name = nullptr)
        : own_(detail::made<tfgen_device>([&](tfgen_device **out, tfgen_error *e) { return tfgen_device_open(name, out, e); }))
    {
    }
    tfgen_device *get() const noexcept { return own_.get(); }
    const char *target() const { return tfgen_device_target(get()); }
    tfgen_device_info info() const
    {
        tfgen_device_info i{};
        i.size = sizeof i;
        detail::must([&](tfgen_error *) { return tfgen_device_query(get(), &i); });
        return i;
    }
    void copy(void *to, const void *from, std::size_t bytes, tfgen_copy_kind kind, void *stream = nullptr) const
    {
        detail::must([&](tfgen_error *e) { return tfgen_device_copy(get(), to, from, bytes, kind, stream, e); });
    }
    void synchronize(void *stream = nullptr) const
    {
        detail::must([&](tfgen_error *e) { return tfgen_device_synchronize(get(), stream, e); });
    }

  private:
    detail::owner<tfgen_device, tfgen_device_close> own_;
};

// Device memory of at least one byte.
class memory {
  public:
    memory(const device &on, std::size_t bytes) : on_(on.get()), bytes_(bytes)
    {
        detail::must([&](tfgen_error *e) { return tfgen_device_alloc(on_, bytes ? bytes : 1, &data_, e); });
    }
    memory(memory &&other) noexcept : on_(other.on_), data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr, other.bytes_ = 0; }
    memory &operator=(memory &&other) noexcept
    {
        std::swap(on_, other.on_), std::swap(data_, other.data_), std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~memory() { if (data_) tfgen_device_free(on_, data_); }
    void *get() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    // Copy the whole memory: put() from the host, take() to the host.
    void put(const void *from, void *stream = nullptr) { copy(data_, from, TFGEN_TO_DEVICE, stream); }
    void take(void *to, void *stream = nullptr) const { copy(to, data_, TFGEN_FROM_DEVICE, stream); }

  private:
    void copy(void *to, const void *from, tfgen_copy_kind kind, void *stream) const
    {
        detail::must([&](tfgen_error *e) { return tfgen_device_copy(on_, to, from, bytes_, kind, stream, e); });
    }
    tfgen_device *on_;
    void *data_ = nullptr;
    std::size_t bytes_;
};

class plan {
  public:
    explicit plan(std::string_view spec, const char *name, const tfgen_plan_options &options = TFGEN_PLAN_OPTIONS_INIT)
        : own_(detail::made<tfgen_plan>([&](tfgen_plan **out, tfgen_error *e) {
              return tfgen_plan_create(spec.data(), spec.size(), name, &options, out, e);
          }))
    {
    }
    tfgen_plan *get() const noexcept { return own_.get(); }
    std::size_t kernel_count() const { return tfgen_plan_kernel_count(get()); }
    const char *text() const { return tfgen_plan_text(get()); }
    const char *manifest() const { return tfgen_plan_manifest(get()); }
    std::vector<std::string> warnings() const
    {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < tfgen_plan_warning_count(get()); i++) all.emplace_back(tfgen_plan_warning(get(), i));
        return all;
    }
    std::size_t tensor_count() const { return tfgen_plan_tensor_count(get()); }
    tfgen_tensor tensor(std::size_t index) const
    {
        tfgen_tensor t{};
        t.size = sizeof t;
        detail::must([&](tfgen_error *) { return tfgen_plan_tensor(get(), index, &t); });
        return t;
    }
    // Throws std::out_of_range if there is none.
    std::size_t tensor_index(const char *name, tfgen_tensor_kind kind) const
    {
        const std::size_t index = tfgen_plan_tensor_index(get(), name, kind);
        if (index == static_cast<std::size_t>(-1)) throw std::out_of_range(std::string("the plan has no tensor ") + name);
        return index;
    }
    std::int64_t workspace_bytes(const dims &of = {}) const { return tfgen_workspace_bytes(get(), of.data(), of.size()); }

  private:
    detail::owner<tfgen_plan, tfgen_plan_free> own_;
};

// Tensors of safetensors files, read into host memory.
class checkpoint {
  public:
    explicit checkpoint(const char *path)
        : own_(detail::made<tfgen_checkpoint>([&](tfgen_checkpoint **out, tfgen_error *e) { return tfgen_checkpoint_open(path, out, e); }))
    {
    }
    tfgen_checkpoint *get() const noexcept { return own_.get(); }
    std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < tfgen_checkpoint_count(get()); i++) all.emplace_back(tfgen_checkpoint_name(get(), i));
        return all;
    }
    tfgen_checkpoint_entry find(const char *name) const
    {
        tfgen_checkpoint_entry entry{};
        entry.size = sizeof entry;
        detail::must([&](tfgen_error *e) { return tfgen_checkpoint_find(get(), name, &entry, e); });
        return entry;
    }
    std::vector<unsigned char> read(const char *name) const
    {
        std::vector<unsigned char> data(static_cast<std::size_t>(find(name).bytes));
        detail::must([&](tfgen_error *e) { return tfgen_checkpoint_read(get(), name, data.data(), data.size(), e); });
        return data;
    }
    // Param `index` of the plan, in the plan's dtype and layout; layer: -1 for a spec without {layer} in its prefix.
    std::vector<unsigned char> param(const plan &of, std::size_t index, std::int64_t layer = -1) const
    {
        std::vector<unsigned char> data(static_cast<std::size_t>(of.tensor(index).bytes));
        detail::must([&](tfgen_error *e) { return tfgen_checkpoint_param(get(), of.get(), index, layer, data.data(), data.size(), e); });
        return data;
    }

  private:
    detail::owner<tfgen_checkpoint, tfgen_checkpoint_close> own_;
};

class module {
  public:
    explicit module(const plan &of, const device &on, const tfgen_module_options &options = TFGEN_MODULE_OPTIONS_INIT)
        : own_(detail::made<tfgen_module>([&](tfgen_module **out, tfgen_error *e) {
              return tfgen_module_create(of.get(), on.get(), &options, out, e);
          }))
    {
    }
    tfgen_module *get() const noexcept { return own_.get(); }
    void prepare(const dims &of, const tfgen_module_options &options = TFGEN_MODULE_OPTIONS_INIT)
    {
        detail::must([&](tfgen_error *e) { return tfgen_module_prepare(get(), of.data(), of.size(), &options, e); });
    }
    std::int64_t workspace_bytes(const dims &of = {}) const { return tfgen_module_workspace_bytes(get(), of.data(), of.size()); }
    const char *manifest() const { return tfgen_module_manifest(get()); }

  private:
    detail::owner<tfgen_module, tfgen_module_free> own_;
};

class weights {
  public:
    weights(const module &of, const std::vector<void *> &tensors, void *stream = nullptr)
        : own_(detail::made<tfgen_weights>([&](tfgen_weights **out, tfgen_error *e) {
              return tfgen_weights_create(of.get(), tensors.data(), stream, out, e);
          }))
    {
    }
    tfgen_weights *get() const noexcept { return own_.get(); }
    void add(const module &of, const std::vector<void *> &tensors, void *stream = nullptr)
    {
        detail::must([&](tfgen_error *e) { return tfgen_weights_add(get(), of.get(), tensors.data(), stream, e); });
    }
    std::int64_t bytes() const { return tfgen_weights_bytes(get()); }

  private:
    detail::owner<tfgen_weights, tfgen_weights_free> own_;
};

// Layers that one launch computes; the plan must have been made with options.stack. `of` and the weights must outlive the stack.
class stack {
  public:
    // layers[n]: the weights of layer n (NULL for a plan without params) and its tensors, of which only the states are used.
    // kind: of the plan's kinds of layers (options.kinds).
    struct layer {
        const tfgen_weights *weights;
        std::vector<void *> tensors;
        int kind = 0;
    };
    stack(const module &of, const std::vector<layer> &layers)
        : own_(detail::made<tfgen_stack>([&](tfgen_stack **out, tfgen_error *e) {
              std::vector<const tfgen_weights *> weights;
              std::vector<void *const *> tensors;
              std::vector<int> kinds;
              for (const layer &one : layers)
                  weights.push_back(one.weights), tensors.push_back(one.tensors.data()), kinds.push_back(one.kind);
              return tfgen_stack_create_of_kinds(of.get(), kinds.data(), weights.data(), tensors.data(), layers.size(), out, e);
          }))
    {
    }
    tfgen_stack *get() const noexcept { return own_.get(); }
    // Layers first, first + 1, ..., `count` of them.
    void execute(std::size_t first, std::size_t count, const tfgen_args &args, void *workspace, void *stream = nullptr) const
    {
        detail::must([&](tfgen_error *e) { return tfgen_stack_execute(get(), first, count, &args, workspace, stream, e); });
    }

  private:
    detail::owner<tfgen_stack, tfgen_stack_free> own_;
};

// weights: NULL for a plan without params.
inline void execute(const module &code, const tfgen_weights *weights, const tfgen_args &args, void *workspace, void *stream = nullptr)
{
    detail::must([&](tfgen_error *e) { return tfgen_execute(code.get(), weights, &args, workspace, stream, e); });
}
inline void execute_check(const module &code, const tfgen_args &args, void *workspace, void *stream = nullptr)
{
    detail::must([&](tfgen_error *e) { return tfgen_execute_check(code.get(), &args, workspace, stream, e); });
}

} // namespace tfgen
#endif
