.PHONY: kernels kernels-hip kernels-cuda kernels-check

# Device code. The objects are committed; building them needs clang-19 with
# lld, rocm-device-libs and HIP's headers, and for PTX the NVRTC that
# PARITYCHECK_NVRTC names.
kernels:       ; go run ./kernels/build
kernels-hip:   ; go run ./kernels/build hip
kernels-cuda:  ; go run ./kernels/build cuda
kernels-check: ; go run ./kernels/build -check
