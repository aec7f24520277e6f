"""model.dram"""
