"""The books of a main container of any language, kept by a native sidecar beside it."""
