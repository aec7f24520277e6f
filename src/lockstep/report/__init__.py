"""Views of a result: the terminal summary, the timeline, the opcode mix of a workload."""
