import cProfile
import pickle

import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.names import all_demangled, demangled, short_name

NAMES = [
    ("plain", "plain", "plain"),
    ("_Z3addPfS_i", "add(float*, float*, int)", "add"),
    ("_Z5scaleIfEvPT_i", "void scale<float>(float*, int)", "scale<float>"),
    (
        "_Z4packIsJLs3ELsn4EEEvPT_",
        "void pack<short, (short)3, (short)-4>(short*)",
        "pack<short, (short)3, (short)-4>",
    ),
    ("_Z1kIDF16_EvT_", "_Z1kIDF16_EvT_", "_Z1kIDF16_EvT_"),  # a type that is not known
    ("_ZN2ns4Tile4loadILi4EEEvPKd", "void ns::Tile::load<4>(double const*)", "ns::Tile::load<4>"),
    ("_Z1kILb1ELin2ELm3EEvv", "void k<true, -2, 3ul>()", "k<true, -2, 3ul>"),
    ("_Z4manyILi5EJifEEvDpT0_", "void many<5, int, float>(int, float)", "many<5, int, float>"),
    ("_Z4manyILi5EJEEvDpT0_", "void many<5>()", "many<5>"),
    ("_Z8pointersIJifEEvDpPT_", "void pointers<int, float>(int*, float*)", "pointers<int, float>"),
    ("_Z2vsIJidEEvDpP1VIT_E", "void vs<int, double>(V<int, double>*...)", "vs<int, double>"),
    (
        "_ZN34_GLOBAL__N__41b533b4_5_pk_cu__Z1fv4hid2IiEEvPKT_",
        "void (anonymous namespace)::hid2<int>(int const*)",
        "(anonymous namespace)::hid2<int>",
    ),
    (
        "_Z3runIZN2ns1S2goIfEEvPT_EUlifE_JfEEvS3_DpT0_",
        "void run<ns::S::go<float>(float*)::{lambda(int, float)#1}, float>"
        "(ns::S::go<float>(float*)::{lambda(int, float)#1}, float)",
        "run<ns::S::go<float>(float*)::{lambda(int, float)#1}, float>",
    ),
    (
        "_Z3runIZ4mainEUlvE0_EvT_",
        *["void run<main::{lambda()#2}>(main::{lambda()#2})", "run<main::{lambda()#2}>"],
    ),
    ("_ZZ4mainE1kPf", "main::k(float*)", "main::k"),
    ("_Z1kIN1aUt_EEvv", "void k<a::{unnamed type#1}>()", "k<a::{unnamed type#1}>"),
    (
        "_Z3runI17__nv_dl_wrapper_tI11__nv_dl_tagIPFivEXadL_Z4mainEELj1EEJPiEEEvT_",
        "void run<__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &(main), 1u>, int*>>"
        "(__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &(main), 1u>, int*>)",
        "run<__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &(main), 1u>, int*>>",
    ),
    (
        "_Z1kIfENSt9enable_ifIXsrSt11is_integralIT_E5valueEvE4typeEPT_",
        "std::enable_if<std::is_integral<float>::value, void>::type k<float>(float*)",
        "k<float>",
    ),
    ("_Z1kILi3EEvPAplT_Li1E_f", "_Z1kILi3EEvPAplT_Li1E_f", "_Z1kILi3EEvPAplT_Li1E_f"),
    ("_ZZ4mainE", "_ZZ4mainE", "_ZZ4mainE"),
    ("_Z3runIZ4mainEUliE", "_Z3runIZ4mainEUliE", "_Z3runIZ4mainEUliE"),
    ("_Znonsense", "_Znonsense", "_Znonsense"),
    ("_Z", "_Z", "_Z"),
]


@pytest.mark.parametrize(("name", "full", "short"), NAMES)
def test_names_are_demangled_where_they_can_be(name, full, short):
    assert (demangled(name), short_name(name)) == (full, short)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("kernel _Z5scaleIfEvPT_i: trap", "kernel void scale<float>(float*, int): trap"),
        ("it has _Z1av, _Z1bv", "it has a(), b()"),
        ("/tmp/_Z1av/x: cannot read", "/tmp/_Z1av/x: cannot read"),
        ("_Z1av.cubin: cannot read", "_Z1av.cubin: cannot read"),
        ("nothing_Z1av", "nothing_Z1av"),
    ],
)
def test_texts_are_demangled_but_for_paths(text, shown):
    assert all_demangled(text) == shown


def test_a_name_that_stands_for_an_endless_text_stays_as_it_is():
    name, last = "_Z1f1aIiiE", "S0_"
    for place in "23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ":  # each of which stands for two of the last
        name += f"1bI{last}{last}E"
        last = f"S{place}_"
    assert demangled(name) == short_name(name) == name


def test_a_profile_goes_on_behind_a_name():
    profile = cProfile.Profile()
    profile.enable()
    demangled("_Z7profilePi")
    later = sorted([3, 1, 2])
    profile.disable()
    assert later == [1, 2, 3]
    profile.create_stats()
    assert any(name == "<built-in method builtins.sorted>" for _, _, name in profile.stats)


def test_errors_call_kernels_by_their_names_in_cpp():
    assert str(LockstepError("no kernel _Z1av")) == "no kernel a()"
    error = pickle.loads(pickle.dumps(InputError("_Z1av.ptx", "line 3", "kernel _Z1av: no")))
    assert str(error) == "_Z1av.ptx, line 3: kernel a(): no"
