"""Machine code (SASS) lifted onto the lane builder."""
