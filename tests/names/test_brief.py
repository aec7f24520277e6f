import pytest

from lockstep.names import short_name
from lockstep.names.brief import brief

FOR_EACH = (
    "_ZN3cub17CUB_300001_SM_8006detail8for_each13static_kernelINS2_12policy_hub_t12policy_500_tEmN6"
    "thrust23THRUST_300001_SM_800_NS8cuda_cub20__uninitialized_fill7functorINS7_10device_ptrI{0}EE{0}"
    "EEEEvT0_T1_"
)
TRANSFORM = (
    "_ZN3cub17CUB_300001_SM_8006detail9transform16transform_kernelINS2_10policy_hubILb1EN4cuda3std3__"
    "45tupleIJN6thrust23THRUST_300001_SM_800_NS6detail15normal_iteratorINSA_10device_ptrIiEEEEEEEE10p"
    "olicy1000EiZ4mainEUliE2_SF_JPiEEEvT0_iT1_T2_DpNS2_10kernel_argIT3_EE"
)
SORT = (
    "_ZN3cub17CUB_300001_SM_8006detail10radix_sort31DeviceRadixSortSingleTileKernelINS1_5radix10policy"
    "_hubIiNS0_8NullTypeEyE10Policy1000ELNS0_9SortOrderE0EiS6_yNS1_21identity_decomposer_tEEEvPKT1_PSB_"
    "PKT2_PSF_T3_iiT4_"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FOR_EACH.format("i"), "static_kernel<unsigned long, functor<device_ptr<int>, int>>"),
        (FOR_EACH.format("f"), "static_kernel<unsigned long, functor<device_ptr<…>, float>>"),
        (TRANSFORM, "transform_kernel<int, {lambda(int)#4}, …>"),
        (SORT, "DeviceRadixSortSingleTileKernel<(SortOrder)0, int, …>"),
        ("_Z3runIZ4mainEUliE_JEEvT_DpT0_", "run<main::{lambda(int)#1}>"),
    ],
)
def test_kernels_of_libraries(name, text):
    """What templates of CUB and Thrust are launched for, compiled by nvcc 13.0."""
    assert brief(short_name(name), 60) == text


@pytest.mark.parametrize(
    ("name", "width", "text"),
    [
        ("one::two::three", 15, "one::two::three"),
        ("one::two::three", 14, "three"),
        ("cuda::std::__4::plus<void>", 24, "cuda::std::plus<void>"),
        ("f<a::b<c::d<e::g>>>", 10, "f<b<d<g>>>"),
        ("f<b<d<g<h<long>>>>>", 13, "f<b<d<g<…>>>>"),
        ("f<a::b<c::d<e::g>>>", 9, "f<b<…>>"),
        ("f<int, long, char>", 17, "f<int, long, …>"),
        ("f<int, long, char>", 5, "f<in…"),
        ("f<(n::E)1, n::T*, n::U const&>", 29, "f<(E)1, T*, U const&>"),
        ("f<n::{lambda(n::Very, n::Many, n::Types)#2}>", 30, "f<{lambda(…)#2}>"),
        ("n::f<n::operator-><int>>", 20, "n::f<n::operator-><…"),
        ("f<void (*)(n::T), n::U<n::V>>", 28, "f<void (*)(n::T), U<V>>"),
        ("f<policy_500_t>", 14, "f<policy_500_…"),
    ],
)
def test_names_get_shorter_step_by_step(name, width, text):
    assert brief(name, width) == text
    assert len(brief(name, width)) <= width


@pytest.mark.parametrize("width", range(1, 12))
def test_there_is_always_a_name(width):
    for name in ("", "f", "::", "f<", "f<>", "<a, b>", "a::f<b<c>, d>", ">f<", "f<a>::"):
        assert len(brief(name, width)) <= width
