"""model.noc"""
