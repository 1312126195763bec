"""Where reports are kept."""
