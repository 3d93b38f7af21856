"""Who runs the code: the one difference between two trials."""
