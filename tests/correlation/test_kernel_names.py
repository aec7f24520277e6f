import pytest

from lockstep.correlation.kernels import base_name, full_name, same_kernel


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("scale", "scale"),
        ("_Z5scaleIfEvPT_i", "scale<float>"),
        ("void scale<float>(float *, int)", "scale<float>"),
        ("void scale<float, (int)4, (bool)1>(T1 *)", "scale<float,4,1>"),
        ("scale<float, 4, true>", "scale<float,4,1>"),
        ("void ns::scale<(unsigned int)4u>(int)", "ns::scale<4>"),
        ("(anonymous namespace)::run(int (*)(int))", "run"),
        ("<unnamed>::run(void)", "run"),
        ("add(float*, float*) [113]", "add"),
        ("std::enable_if<A<int (int)>::value, void>::type go<A<int (int)> >(A<int (int)>)",
         "go<A<int(int)>>"),
        ("(", "("),
        ("", ""),
        ("f(", "f("),
        ("f)", "f)"),
    ],
)  # fmt: skip
def test_full_names(written, name):
    assert full_name(written) == name


@pytest.mark.parametrize(
    ("full", "base"),
    [("scale", "scale"), ("ns::scale<a::b<1>>", "scale"), ("a<1>::b", "b"), ("<>", "<>")],
)
def test_base_names(full, base):
    assert base_name(full) == base


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("scale", "void scale<float, (int)4>(float *)", True),
        ("_Z5scaleIfEvPT_i", "scale<float>", True),
        ("scale<float>", "scale<int>", False),
        ("ns::add(int)", "add", True),
        ("add", "scale<float>", False),
    ],
)
def test_names_of_one_kernel(name, other, same):
    assert same_kernel(name, other) is same
    assert same_kernel(other, name) is same
