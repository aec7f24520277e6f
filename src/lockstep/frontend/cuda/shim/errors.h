// Number, name in the runtime API, name in the driver API, text. Numbers and names: CUDA Runtime API
// documentation, "Data types", and CUDA Driver API documentation, "Data types used by CUDA driver".

ERROR(0, cudaSuccess, CUDA_SUCCESS, "no error")
ERROR(1, cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE, "invalid argument")
ERROR(2, cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY, "out of memory")
ERROR(3, cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED, "initialization error")
ERROR(4, cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED, "driver shutting down")
ERROR(9, cudaErrorInvalidConfiguration, CUDA_ERROR_UNKNOWN, "invalid configuration argument")
ERROR(12, cudaErrorInvalidPitchValue, CUDA_ERROR_UNKNOWN, "invalid pitch argument")
ERROR(13, cudaErrorInvalidSymbol, CUDA_ERROR_UNKNOWN, "invalid device symbol")
ERROR(17, cudaErrorInvalidDevicePointer, CUDA_ERROR_UNKNOWN, "invalid device pointer")
ERROR(18, cudaErrorInvalidTexture, CUDA_ERROR_UNKNOWN, "invalid texture reference")
ERROR(20, cudaErrorInvalidChannelDescriptor, CUDA_ERROR_UNKNOWN, "invalid channel descriptor")
ERROR(21, cudaErrorInvalidMemcpyDirection, CUDA_ERROR_UNKNOWN, "invalid copy direction for memcpy")
ERROR(35, cudaErrorInsufficientDriver, CUDA_ERROR_UNKNOWN,
      "CUDA driver version is insufficient for CUDA runtime version")
ERROR(52, cudaErrorMissingConfiguration, CUDA_ERROR_UNKNOWN,
      "__global__ function call is not configured")
ERROR(98, cudaErrorInvalidDeviceFunction, CUDA_ERROR_UNKNOWN, "invalid device function")
ERROR(100, cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")
ERROR(101, cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")
ERROR(200, cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")
ERROR(201, cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT, "invalid device context")
ERROR(209, cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU,
      "no kernel image is available for execution on the device")
ERROR(215, cudaErrorUnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported")
ERROR(217, cudaErrorPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
      "peer access is not supported between these two devices")
ERROR(218, cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")
ERROR(301, cudaErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND, "file not found")
ERROR(400, cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")
ERROR(401, cudaErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE,
      "the operation cannot be performed in the present state")
ERROR(500, cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND, "named symbol not found")
ERROR(600, cudaErrorNotReady, CUDA_ERROR_NOT_READY, "device not ready")
ERROR(700, cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS,
      "an illegal memory access was encountered")
ERROR(701, cudaErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
      "too many resources requested for launch")
ERROR(702, cudaErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT,
      "the launch timed out and was terminated")
ERROR(704, cudaErrorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
      "peer access is already enabled")
ERROR(705, cudaErrorPeerAccessNotEnabled, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
      "peer access has not been enabled")
ERROR(708, cudaErrorSetOnActiveProcess, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
      "cannot set while device is active in this process")
ERROR(709, cudaErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed")
ERROR(710, cudaErrorAssert, CUDA_ERROR_ASSERT, "device-side assert triggered")
ERROR(712, cudaErrorHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
      "part or all of the requested memory range is already mapped")
ERROR(713, cudaErrorHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
      "pointer does not correspond to a registered memory region")
ERROR(714, cudaErrorHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error")
ERROR(715, cudaErrorIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION,
      "an illegal instruction was encountered")
ERROR(716, cudaErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")
ERROR(717, cudaErrorInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE,
      "operation not supported on global/shared address space")
ERROR(718, cudaErrorInvalidPc, CUDA_ERROR_INVALID_PC, "invalid program counter")
ERROR(719, cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")
ERROR(720, cudaErrorCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
      "too many blocks in cooperative launch")
ERROR(800, cudaErrorNotPermitted, CUDA_ERROR_NOT_PERMITTED, "operation not permitted")
ERROR(801, cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED, "operation not supported")
ERROR(900, cudaErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
      "operation not permitted when stream is capturing")
ERROR(901, cudaErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
      "operation failed due to a previous error during capture")
ERROR(999, cudaErrorUnknown, CUDA_ERROR_UNKNOWN, "unknown error")
