"""Corrects instructions in tinygrad's emulator module that random programs showed to be wrong: rounding to even, integer clamps, 24-bit
multiplies, SDWA results, 16-bit operations on high registers. An SDWA instruction with float modifiers or carries raises an exception."""
import inspect


def apply(emu):
    from tinygrad.uop.ops import UOp, Ops
    from tinygrad.dtype import dtypes
    from test.mockgpu.amd import pcode as pc
    FT = {dtypes.float32: (dtypes.uint32, 0x80000000, 23, 8), dtypes.half: (dtypes.uint16, 0x8000, 10, 5),
          dtypes.float64: (dtypes.uint64, 1 << 63, 52, 11)}
    C = UOp.const
    # --- round to nearest even: keeps the sign of zero and rounds once
    def rndne(x):
        ut, sb, mant, _ = FT[x.dtype]; t = UOp(Ops.TRUNC, src=(x,)); f = x - t; f = (f < C(0.0, x.dtype)).where(f.neg(), f)
        th = t * C(0.5, x.dtype); odd = UOp(Ops.TRUNC, src=(th,)).ne(th)
        up = (C(0.5, x.dtype) < f) | (f.eq(C(0.5, x.dtype)) & odd)
        r = up.where((x < C(0.0, x.dtype)).where(t - C(1.0, x.dtype), t + C(1.0, x.dtype)), t)
        r = ((r.bitcast(ut) & C(sb - 1, ut)) | (x.bitcast(ut) & C(sb, ut))).bitcast(x.dtype)
        return x.ne(x).where(x, r)
    pc._FUNCS["rndne"] = rndne
    for d in (emu.PCODE_RDNA3, emu.PCODE_RDNA4, emu.PCODE_CDNA):
        for k in list(d):
            for s in ("F16", "F32", "F64"):
                if k.name.startswith(f"V_RNDNE_{s}") or k.name.startswith(f"S_RNDNE_{s}"): d[k] = f"D0.{s.lower()} = rndne(S0.{s.lower()})"
    # --- 16-bit and signed 32-bit integer clamp
    old = emu._int_clamp
    def int_clamp(name, srcs):
        s0, s1 = srcs.get("S0"), srcs.get("S1")
        for n, sg in (("U16", 0), ("I16", 1), ("I32", 1)):
            for op in ("ADD", "SUBREV", "SUB", "MAD"):
                if f"V_{op}_{n}" in name or f"V_{op}_NC_{n}" in name:
                    W = int(n[1:])
                    ut, nd = (dtypes.uint16, dtypes.int16 if sg else dtypes.uint16) if W == 16 else (dtypes.uint32, dtypes.int)
                    lo, hi = (-1 << W-1, (1 << W-1) - 1) if sg else (0, (1 << W) - 1)
                    w = lambda x: (x.cast(ut) if x.dtype.itemsize != W//8 else x.bitcast(ut)).bitcast(nd).cast(dtypes.int64)
                    a, b = w(s0), w(s1)
                    r = a + b if op == "ADD" else a - b if op == "SUB" else b - a if op == "SUBREV" else a * b + w(srcs["S2"])
                    r = (r < C(lo, dtypes.int64)).where(C(lo, dtypes.int64), (C(hi, dtypes.int64) < r).where(C(hi, dtypes.int64), r))
                    return r.cast(dtypes.uint32).cast(ut)
        return old(name, srcs)
    emu._int_clamp = int_clamp
    # --- 24-bit multiplies: the operands must be cut to 24 bits
    pc._FUNCS["sx24"] = lambda a: (a.cast(dtypes.uint32) << C(8, dtypes.uint32)).bitcast(dtypes.int) >> C(8, dtypes.int)
    for d in (emu.PCODE_RDNA3, emu.PCODE_RDNA4, emu.PCODE_CDNA):
        for k, t in list(d.items()):
            if "24)" in t:
                for i in "01": t = t.replace(f"S{i}.u24", f"S{i}.u32 & 0xffffffU").replace(f"S{i}.i24", f"sx24(S{i}.u32)")
                d[k] = t
    # --- SDWA: 16-bit results zero the upper half; integer clamp; float modifiers and float clamp are refused
    op, cl = emu.parse_pcode, []
    def parse_pcode(code, srcs=None):
        env, assigns = op(code, srcs)
        if cl:
            out = []
            for dest, val in assigns:
                if isinstance(val, UOp) and dest in ("D0.u16", "D0.i16"):
                    val = (int_clamp(cl[-1][0], srcs) if cl[-1][1] else val).cast(dtypes.uint16)
                elif isinstance(val, UOp) and dest.startswith("D0") and cl[-1][1]:
                    r = int_clamp(cl[-1][0], srcs)
                    if r is None: raise RuntimeError("SDWA clamp is not emulated here")
                    val = r
                out.append((dest, val))
            assigns = out
        return env, assigns
    emu.parse_pcode = parse_pcode
    sd = emu._compile_sdwa
    def compile_sdwa(inst, ctx):
        if any(emu._iattr(inst, f) for f in ("src0_neg", "src0_abs", "src1_neg", "src1_abs")):
            raise RuntimeError("SDWA neg/abs is not emulated")
        if "_CO_" in inst.op.name:
            raise RuntimeError("carries of SDWA are not emulated")
        cl.append((inst.op.name, emu._iattr(inst, "clmp")))
        try: return sd(inst, ctx)
        finally: cl.pop()
    for k, v in list(emu._INST_HANDLERS.items()):
        if v is sd: emu._INST_HANDLERS[k] = compile_sdwa
    # --- CDNA has no half registers: v128 and up are registers in 16-bit VOP1, VOP2 and VOPC, too (on RDNA3 they are high halves)
    halves = dict(vars(emu))
    for name in ("_load_vsrc0", "_compile_vop12", "_compile_vopc"):
        source = inspect.getsource(getattr(emu, name))
        changed = source.replace("_c(128)", "_c(1 << 20)").replace("_c(384)", "_c(1 << 20)")
        assert changed != source, f"{name} of this tinygrad is not the one that is corrected here"
        exec(compile(changed, emu.__file__, "exec"), halves)
    replaced = {emu._compile_vop12: halves["_compile_vop12"], emu._compile_vopc: halves["_compile_vopc"]}
    for k, v in list(emu._INST_HANDLERS.items()):
        if k.__module__ == emu.irc.__name__ and v in replaced: emu._INST_HANDLERS[k] = replaced[v]
