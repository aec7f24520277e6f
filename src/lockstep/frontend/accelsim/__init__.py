"""frontend.accelsim"""
