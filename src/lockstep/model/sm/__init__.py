"""model.sm"""
