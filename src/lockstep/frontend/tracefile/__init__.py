"""frontend.tracefile"""
