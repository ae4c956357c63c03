# tfgen in Debian 12, with clang: kernels run on the processor (host engine) and are compiled for AMD GPUs.
#
#   docker build -t tfgen .
#   docker run --rm tfgen run /usr/share/tfgen/specs/llama-block.yaml
#
# For an NVIDIA GPU also give --gpus=all, and the host's CUDA toolkit for NVRTC: -v /usr/local/cuda:/usr/local/cuda:ro
FROM debian:12 AS build
RUN apt-get update -q && apt-get install -q -y --no-install-recommends \
    dpkg-dev gcc libc6-dev libjansson-dev libsqlite3-dev libxxhash-dev libyaml-dev make
COPY . /tfgen
RUN make -C /tfgen -j"$(nproc)" deb DEB=/packages

FROM debian:12
COPY --from=build /packages /packages
RUN apt-get update -q && apt-get install -q -y --no-install-recommends clang-22 lld-22 /packages/*.deb \
    && rm -rf /packages /var/lib/apt/lists/*
ENTRYPOINT ["tfgen"]
