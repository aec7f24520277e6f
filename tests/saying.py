"""A kernel that prints a line, as PTX."""


def say(parameters="", before=""):
    """Module of a kernel ``say``, which does something else ``before``, with %r1, %rd1 and %rd2."""
    return f"""
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {{72, 105, 10, 0}};
.visible .entry say({parameters})
{{
    .reg .b32 %r<2>; .reg .b64 %rd<3>;
    {before}
    mov.u64 %rd1, text;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, 0;
    .param .b64 format; .param .b64 arguments; .param .b32 result;
    st.param.b64 [format], %rd1;
    st.param.b64 [arguments], %rd2;
    call.uni (result), vprintf, (format, arguments);
    ret;
}}
"""
