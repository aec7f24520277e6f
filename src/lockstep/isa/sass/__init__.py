"""isa.sass"""
