"""The command line: thin, and each command imported only when it is called."""
