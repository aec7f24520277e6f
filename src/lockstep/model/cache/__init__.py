"""model.cache"""
